// Goal: what an effect says of its use counts the same wherever it runs, and a stream is cut while it comes.
// Method: the built package, real threads, and a model that is a real server on this machine.

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { guardedStream, hasCode, streamTokenBudget } from "heddle";
import { describe, expect, onTestFinished, test } from "vitest";
import { latch } from "../../support/latch.js";
import { within } from "../../workers/partitions/world.js";
import { inTurn, openApp, PLACES } from "./app.js";

const generous = [{ scope: "execution", meter: "calls", limit: 1_000 }] as const;

describe.each(PLACES)("%s", (place) => {
  test("reports of an effect add up, also those of one that fails", async () => {
    const app = openApp(place, generous);
    const inputs = [
      { reports: [{ tokens: 3 }, { tokens: 4, cost: 0.25 }], ms: 1 },
      { reports: [{ cost: 0.5 }], fails: true },
      {},
    ];
    const handle = await app.runtime.start(inTurn, { inputs });
    const { usage } = await within(handle.waitForCompletion(), "the end");
    expect(usage).toMatchObject({ calls: 3, tokens: 7, cost: 0.75 });
    expect(usage?.wallMs).toBeGreaterThanOrEqual(1);
  });

  test("the usage of a model's answer is read, unless its effect reports by itself", async () => {
    const app = openApp(place, generous);
    const inputs = [
      { usage: { inputTokens: 10, outputTokens: 5, totalTokens: 20, costUsd: 0.5 } },
      { usage: { inputTokens: 10, outputTokens: 5 } },
      { usage: { totalTokens: 1_000 }, reports: [{ tokens: 1 }] },
      { usage: { totalTokens: "many", costUsd: -1 } },
      { usage: null },
    ];
    const handle = await app.runtime.start(inTurn, { toolId: "model", inputs });
    const { usage } = await within(handle.waitForCompletion(), "the end");
    expect(usage).toMatchObject({ calls: 5, tokens: 20 + 15 + 1, cost: 0.5 });
  });

  test("streamTokenBudget cuts the stream while it is generated: the server sees its connection closed", async () => {
    const model = await endlessModel();
    const app = openApp(place, generous);
    const retry = { maxAttempts: 3, baseDelayMs: 1 }; // it is not retried all the same
    const handle = await app.runtime.start(inTurn, { toolId: "stream", inputs: [{ url: model.url }], retry });
    expect(await within(handle.result(), "the answer")).toEqual(["QUOTA_EXCEEDED"]);
    await within(model.cut, "the end of the connection");
    expect(model.asked()).toBe(1);
    const events = await app.stores.eventStore.read(handle.executionId);
    const at = events.findIndex(({ type }) => type === "QUOTA_EXCEEDED");
    expect(events[at]?.payload).toMatchObject({
      stepId: "stream#0",
      scope: "call",
      meter: "tokens",
      limit: 100,
    });
    expect((events[at]?.payload as { used: number }).used).toBeLessThan(1_000);
    expect(events[at + 1]).toMatchObject({
      type: "STEP_FAILED",
      payload: { error: { code: "QUOTA_EXCEEDED" } },
    });
  });
});

/** A model that never stops by itself. */
async function endlessModel() {
  let asked = 0;
  const cut = latch();
  const server = createServer((_request, response) => {
    asked++;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.on("close", cut.open);
    generate(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut: cut.opened,
    asked: () => asked,
  };
}

/** A piece of eight characters a millisecond. */
function generate(response: ServerResponse): void {
  if (response.destroyed) return;
  response.write("data: word and\n\n");
  setTimeout(() => generate(response), 1);
}

describe("streamTokenBudget", () => {
  test("allows up to its limit, by four characters a token", () => {
    const guard = streamTokenBudget({ maxTokens: 2 });
    expect(guard("12345678")).toEqual({ allowed: true });
    expect(guard("123456789")).toMatchObject({
      allowed: false,
      error: { code: "QUOTA_EXCEEDED", details: { scope: "call", meter: "tokens", limit: 2, used: 3 } },
    });
  });

  test("counts as it is told to", () => {
    const guard = streamTokenBudget({ maxTokens: 2, estimate: (text) => text.split(" ").length });
    expect([guard("a b").allowed, guard("a b c").allowed]).toEqual([true, false]);
  });

  test.each([
    ["maxTokens", { maxTokens: 0 }],
    ["maxTokens", { maxTokens: 1.5 }],
    ["estimate", { maxTokens: 1, estimate: 4 as unknown as () => number }],
  ])("refuses %s of %o", (option, options) => {
    expect(() => streamTokenBudget(options)).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining(option) as string }),
    );
  });

  test("an estimate that is no number cuts the stream", async () => {
    const guard = streamTokenBudget({ maxTokens: 1, estimate: () => Number.NaN });
    let isEnded = false;
    async function* source(): AsyncGenerator<string> {
      try {
        for (;;) yield "a";
      } finally {
        isEnded = true;
      }
    }
    const seen: string[] = [];
    const error = await (async () => {
      for await (const piece of guardedStream(source(), guard)) seen.push(piece);
    })().catch((thrown: unknown) => thrown);
    expect(hasCode(error, "CONFIG_INVALID")).toBe(true);
    expect([seen, isEnded]).toEqual([[], true]);
  });
});
