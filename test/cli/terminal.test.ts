import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { Terminal, wantsColors } from "../../src/cli/terminal.js";

describe("colours", () => {
  it("are for a terminal alone, and not when NO_COLOR or the terminal says no (T3)", () => {
    expect(wantsColors({ isTTY: true }, {})).toBe(true);
    expect(wantsColors({ isTTY: true }, { NO_COLOR: "" })).toBe(true);
    expect(wantsColors({ isTTY: true }, { NO_COLOR: "1" })).toBe(false);
    expect(wantsColors({ isTTY: true }, { TERM: "dumb" })).toBe(false);
    expect(wantsColors({ isTTY: false }, { FORCE_COLOR: "1" })).toBe(false);
    expect(wantsColors({}, {})).toBe(false);
  });
});

describe("printing", () => {
  function slowTerminal() {
    const stdout = new PassThrough({ highWaterMark: 8 });
    return { stdout, terminal: new Terminal({ stdout, stderr: new PassThrough(), env: {} }) };
  }

  it("waits until the other end has taken it (T1)", async () => {
    const { stdout, terminal } = slowTerminal();
    let isPrinted = false;
    const printing = terminal.print(["more than eight bytes"]).then(() => {
      isPrinted = true;
    });
    await new Promise(setImmediate);
    expect(isPrinted).toBe(false);
    expect(String(stdout.read())).toBe("more than eight bytes\n");
    await printing;
  });

  it("ends when the other end has gone, and prints nothing more (T2)", async () => {
    const { stdout, terminal } = slowTerminal();
    const printing = terminal.print(["more than eight bytes"]);
    stdout.emit("error", Object.assign(new Error("gone"), { code: "EPIPE" }));
    await printing;
    expect(terminal.signal.aborted).toBe(true);
    stdout.read();
    await terminal.print(["unseen"]);
    expect(stdout.read()).toBeNull();
  });
});
