// What `heddle tune` shows: the question, figures, table and bars, curves. Made-up measurements.

import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import pc from "picocolors";
import { describe, expect, it } from "vitest";
import { curvesSvg, type Drawing } from "../../src/cli/drawing/curves.js";
import { agreesTo } from "../../src/cli/tune/consent.js";
import { count, duration, percent } from "../../src/cli/tune/figures.js";
import { recommend } from "../../src/cli/tune/recommendation.js";
import { reportJson, reportLines } from "../../src/cli/tune/tune-report.js";
import { follow, type MadeUp, TIME } from "./tune-world.js";

describe("the question", () => {
  async function ask(answer: string | undefined, signal = new AbortController().signal) {
    const input = new PassThrough();
    const output = new PassThrough();
    if (answer !== undefined) input.end(answer);
    const agreed = await agreesTo("Go on? [y/N] ", { input, output, signal });
    output.end();
    return { agreed, shown: await text(output) };
  }

  it.each(["y\n", "yes\n", " Y \n"])("%j agrees", async (answer) => {
    expect(await ask(answer)).toEqual({ agreed: true, shown: "Go on? [y/N] " });
  });

  it.each(["\n", "n\n", "yikes\n", "no\ny\n"])("%j does not", async (answer) => {
    expect((await ask(answer)).agreed).toBe(false);
  });

  it("the end of the input does not, and ends the line", async () => {
    expect(await ask("")).toEqual({ agreed: false, shown: "Go on? [y/N] \n" });
  });

  it("an interruption does not", async () => {
    const stop = new AbortController();
    const asked = ask(undefined, stop.signal);
    stop.abort();
    expect((await asked).agreed).toBe(false);
  });
});

describe("figures", () => {
  it("have as many digits as they are worth", () => {
    expect([0, 0.4213, 7, 76.9, 12_840.4].map(count)).toEqual(["0", "0.42", "7", "77", "12,840"]);
    const durations = [0, 0.0042, 0.083, 5.14, 99.46, 99.6, 340, 999.4, 999.6, 2_400, 42_000];
    expect(durations.map(duration)).toEqual([
      "0.00 ms",
      "0.004 ms",
      "0.08 ms",
      "5.1 ms",
      "99.5 ms",
      "100 ms",
      "340 ms",
      "999 ms",
      "1.0 s",
      "2.4 s",
      "42 s",
    ]);
    expect([0, 0.004, 0.051, 1].map(percent)).toEqual(["0 %", "0.4 %", "5 %", "100 %"]);
  });
});

function reportOf(effect: MadeUp) {
  const measured = follow(effect);
  return {
    module: "./effects.js",
    effectId: "resize",
    measured,
    recommendation: recommend(measured, { processors: 2, ...TIME }),
    isCutShort: false,
    machine: { processors: 2, node: "20.20.2" },
  };
}

const layout = { colors: pc.createColors(false), width: 80 };

describe("the report", () => {
  it("is a table, bars, and settings to paste", () => {
    expect(reportLines(reportOf({ heldMs: 5, waitMs: 0 }), layout).join("\n")).toMatchInlineSnapshot(`
      "THREADS  CALLS EACH  CALLS/S      P50      P99   BUSY  LOOP P99  CALLS  FAILED
            1           1      200   5.0 ms   6.0 ms  100 %    1.0 ms  1,000       0
            1           4      200  20.0 ms  24.0 ms  100 %    1.0 ms  1,000       0
            2           1      400   5.0 ms   6.0 ms  100 %    1.0 ms  1,000       0
            2           4      400  20.0 ms  24.0 ms  100 %    1.0 ms  1,000       0

      calls/s, by threads and calls a thread has at a time
      1 thread   1 call   █████████████████████████ 200
                 4 calls  █████████████████████████ 200
      2 threads  1 call   ██████████████████████████████████████████████████ 400
                 4 calls  ██████████████████████████████████████████████████ 400

      resize is CPU-bound. A call keeps its thread busy for 100 % of its 5.0 ms, so threads are what helps: 2 threads with 1 call at a time each do 400 calls/s, and more calls on a thread would only wait for each other.
      That is a thread for each of the 2 processors: the host has to share one. Take one thread less if the host must stay quick.

      workers: {
        effects: {
          module: new URL("./effects.js", import.meta.url),
          minThreads: 1,
          maxThreads: 2,
          callsPerThread: 1,
          packet: { maxCalls: 64, maxDelayMs: 0 },
        },
      },"
    `);
  });

  it("names packets where they were tried", () => {
    const lines = reportLines(reportOf({ heldMs: 0.001, waitMs: 0.09, processors: 1 }), layout);
    expect(lines[0]).toContain("PACKET");
    expect(lines.filter((line) => line.includes("calls in 256s"))).toHaveLength(1);
  });

  it("fits the terminal", () => {
    for (const width of [60, 100, 300]) {
      const lines = reportLines(reportOf({ heldMs: 2, waitMs: 10 }), { ...layout, width });
      const bars = lines.filter((line) => line.includes("█"));
      expect(bars.length).toBeGreaterThan(5);
      for (const bar of bars) expect(bar.length).toBeLessThanOrEqual(width);
    }
  });

  it("says when it is not of the whole plan", () => {
    const lines = reportLines({ ...reportOf({ heldMs: 5, waitMs: 0 }), isCutShort: true }, layout);
    expect(lines.join("\n")).toContain("before it was interrupted");
  });

  it("is nothing when nothing was measured, and null in JSON", () => {
    const nothing = { ...reportOf({ heldMs: 5, waitMs: 0 }), measured: [], recommendation: undefined };
    expect(reportLines(nothing, layout)).toEqual([]);
    expect(JSON.parse(reportJson(nothing))).toMatchObject({
      measured: [],
      recommendation: null,
      effect: null,
    });
  });
});

describe("the curves", () => {
  const drawing: Drawing = {
    title: "<resize> & more\u0007",
    subtitle: "CPU-bound",
    xLabel: "calls",
    panels: [
      {
        title: "calls/s",
        label: count,
        curves: [
          { name: "1 thread", points: [1, 4, 16].map((x) => ({ x, y: 190 })) },
          { name: "2 threads", points: [1, 4].map((x) => ({ x, y: 380 })) },
        ],
      },
      {
        title: "p99",
        label: duration,
        isLog: true,
        curves: [{ name: "1 thread", points: [{ x: 1, y: 5 }] }],
      },
    ],
  };

  it("are text that is well-formed, whatever the effect is called", () => {
    const svg = curvesSvg(drawing);
    expect(svg).toContain("<title>&lt;resize&gt; &amp; more</title>");
    expect(svg.replaceAll(/<(\w+)[^<>]*\/>/g, "").match(/<\w/g)).toHaveLength(
      svg.match(/<\/\w/g)?.length ?? 0,
    );
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
  });

  it("have a line a curve, a mark a point, and names in the legend", () => {
    const svg = curvesSvg(drawing);
    expect(svg.match(/class="line/g)).toHaveLength(3);
    expect(svg.match(/<circle/g)).toHaveLength(3 + 1 + 1); // The first curve's, twice, and its legend.
    expect(svg).toContain(">1 thread</text>");
    expect(svg).toContain(">2 threads</text>");
  });

  it("follow the reader's scheme, and can be read aloud", () => {
    const svg = curvesSvg(drawing);
    expect(svg).toContain("prefers-color-scheme:dark");
    expect(svg).toContain(
      "<desc>calls/s, 1 thread: 190 at 1, 190 at 4, 190 at 16. calls/s, 2 threads: 380 at 1",
    );
  });

  it("of nothing, of zero and of one point can be drawn", () => {
    for (const points of [[], [{ x: 1, y: 0 }], [{ x: 64, y: 3 }]]) {
      for (const isLog of [true, false]) {
        const panel = { title: "t", label: count, isLog, curves: [{ name: "c", points }] };
        expect(curvesSvg({ ...drawing, panels: [panel] })).not.toMatch(/NaN|undefined|Infinity/);
      }
    }
  });
});
