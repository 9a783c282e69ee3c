// A data file that something else has damaged: an error with a code, not the end of the host (general rule 3). Opened by a
// process of its own, because LMDB maps the file and the operating system ends whoever reads behind its end.

import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startChild } from "../crash/child.js";
import { flow, openApp, temporaryDirectory, within } from "./world.js";

const PAGE = 4_096;

async function afterDamage(damage: (file: string, bytes: Buffer) => void): Promise<unknown> {
  const dir = temporaryDirectory();
  const parked = flow("parked", (ctx) => ctx.suspend({ on: "go" }));
  const app = openApp({ dir, flows: [parked] });
  await Promise.all(Array.from({ length: 50 }, (_, n) => app.runtime.start(parked, "x".repeat(n * 100))));
  await app.close();
  const file = join(dir, "p000", "data.mdb");
  damage(file, readFileSync(file));
  const child = startChild(new URL("./programs/open-once.mjs", import.meta.url), { args: [dir] });
  const { code, signal } = await within(child.ended, "the process ends", 10_000);
  return { code, signal, report: JSON.parse(child.lines[0] ?? "{}") as unknown };
}

const refused = {
  code: 0,
  signal: null,
  report: {
    code: "STORAGE_FAILED",
    message: expect.stringMatching(/data\.mdb.*Restore the directory from a copy/) as string,
  },
};

describe("a damaged data file", () => {
  it("that is none of LMDB's is refused", async () => {
    expect(await afterDamage((file) => writeFileSync(file, Buffer.alloc(16 * PAGE, 0x7f)))).toEqual(refused);
  });

  it("that was cut within its first pages is refused", async () => {
    expect(await afterDamage((file) => truncateSync(file, PAGE))).toEqual(refused);
  });

  // The size of the file is not compared with the last page its head names: the process ends by SIGBUS.
  it("that lacks its last pages is refused", async () => {
    expect(await afterDamage((file, bytes) => truncateSync(file, bytes.length - 2 * PAGE))).toEqual(refused);
  });
});
