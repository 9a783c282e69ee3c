// Goal: the host's ledger and those of the threads agree, whatever comes in between the question and the answer.
// Method: the two ends of the protocol over a real channel, without threads around them.

import { MessageChannel } from "node:worker_threads";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Budget, Ledger, type Refusal, type Spender } from "../../../src/effects/index.js";
import { CallAccount } from "../../../src/effects/quota/account.js";
import { withinBudgets } from "../../../src/effects/quota/within-budgets.js";
import { fromWire } from "../../../src/kernel/codec/index.js";
import type { MeterRow } from "../../../src/kernel/index.js";
import { BudgetDesk } from "../../../src/workers/partitions/budget-desk.js";
import { Outbox } from "../../../src/workers/partitions/outbox.js";
import {
  type BudgetMessage,
  type HostMessage,
  type ThreadMessage,
  ToThread,
  unpackForHost,
  unpackForThread,
} from "../../../src/workers/partitions/protocol.js";
import { ThreadLedger } from "../../../src/workers/partitions/thread/thread-ledger.js";
import { until } from "../../support/until.js";

const BUDGETS: readonly Budget[] = [{ scope: "tenant", meter: "calls", limit: 2 }];
const acme = (partition: number) => ({ partition, flowId: "f", tenant: "acme" });
const now = (): number => 1_000;

/** A host with the ledgers of so many threads, each with the partition of its number. */
function hostWith(threads: number) {
  const ledger = new Ledger(BUDGETS, now);
  const desk = new BudgetDesk(ledger, threads);
  const ledgers = Array.from({ length: threads }, () => {
    const { port1, port2 } = new MessageChannel();
    onTestFinished(() => port1.close());
    const toHost = new Outbox<HostMessage>(port1);
    const toThread = new Outbox<ThreadMessage>(port2);
    const thread = new ThreadLedger(BUDGETS, now, toHost);
    port1.on("message", (packet) => {
      for (const message of unpackForThread(packet))
        if (message[0] === ToThread.admitted)
          thread.answered(message[1], fromWire(message[2]) as Refusal | undefined);
    });
    port2.on("message", (packet) => {
      for (const message of unpackForHost(packet))
        desk.take(message as BudgetMessage, (answer) => toThread.post(answer));
    });
    return thread;
  });
  return { ledger, threads: ledgers };
}

const used = (ledger: Ledger): number => ledger.used({ scope: "tenant", of: "acme", meter: "calls" });

/** What the layer of the ring does with an attempt. */
function attempt(ledger: Ledger, spender: Spender, signal = new AbortController().signal) {
  const account = new CallAccount(spender);
  const ctx = { account, signal } as unknown as Parameters<ReturnType<typeof withinBudgets>["check"]>[0];
  return { account, passed: Promise.resolve(withinBudgets({ ledger, now }).check(ctx, 0)) };
}

describe("between a thread and the host", () => {
  test("nobody is let through before every partition has brought what its log holds", async () => {
    const { ledger, threads } = hostWith(2);
    const [first, second] = threads as [ThreadLedger, ThreadLedger];
    first.load(0, []);
    const spender = first.open(acme(0));
    const asked = [0, 1].map(() =>
      attempt(first, spender).passed.then(
        () => "in",
        () => "out",
      ),
    );
    // The log of the other partition leaves room for one.
    const row: MeterRow = {
      scope: "tenant",
      of: "acme",
      perMs: 0,
      windowStart: 0,
      calls: 1,
      tokens: 0,
      cost: 0,
      wallMs: 0,
    };
    await new Promise((resolve) => setImmediate(resolve));
    expect(used(ledger)).toBe(0);
    second.load(1, [row]);
    expect(await Promise.all(asked)).toEqual(["in", "out"]);
    expect(used(ledger)).toBe(2);
  });

  test("an attempt that was called off while it asked is not counted, at neither end", async () => {
    const { ledger, threads } = hostWith(1);
    const thread = threads[0]!;
    thread.load(0, []);
    const spender = thread.open(acme(0));
    const controller = new AbortController();
    const { account, passed } = attempt(thread, spender, controller.signal);
    const called = passed.catch((error: unknown) => error);
    account.drop();
    controller.abort(new Error("cancelled"));
    expect(await called).toMatchObject({ message: "cancelled" });
    await until(() => used(ledger) === 0, "the host takes it back");
    expect(used(thread)).toBe(0);
  });

  test("a log that is read again takes back what was under way, and answers that come late change nothing", async () => {
    const { ledger, threads } = hostWith(1);
    const thread = threads[0]!;
    thread.load(0, []);
    const before = thread.open(acme(0));
    const one = attempt(thread, before);
    await one.passed;
    const late = attempt(thread, before);
    // The commit fails: attempts are dropped, and the log says that nothing was used.
    one.account.drop();
    late.account.drop();
    thread.load(0, []);
    await late.passed.catch(() => {});
    thread.report(before, 5, 0);
    const after = thread.open(acme(0));
    await Promise.all([attempt(thread, after).passed, attempt(thread, after).passed]);
    expect([used(ledger), used(thread)]).toEqual([2, 2]);
    expect(ledger.used({ scope: "tenant", of: "acme", meter: "tokens" })).toBe(0);
    await expect(attempt(thread, after).passed).rejects.toMatchObject({ refusal: { used: 2, limit: 2 } });
  });

  test("what is settled is the same at both ends, and the thread's to write", async () => {
    const { ledger, threads } = hostWith(1);
    const thread = threads[0]!;
    thread.load(0, []);
    const spender = thread.open(acme(0));
    const { account, passed } = attempt(thread, spender);
    await passed;
    account.report({ tokens: 7, cost: 0.5 });
    const spent = account.close(1_020);
    thread.settle(spender, spent!, 1_020);
    const rows = thread.takeRows(0);
    const totals = { perMs: 0, windowStart: 0, calls: 1, tokens: 7, cost: 0.5, wallMs: 20 };
    expect(rows).toEqual([
      { scope: "flow", of: "f", ...totals },
      { scope: "tenant", of: "acme", ...totals },
    ]);
    expect(thread.takeRows(0)).toBeUndefined();
    await until(() => ledger.used({ scope: "flow", of: "f", meter: "wallMs" }) === 20, "the host hears");
    expect(ledger.used({ scope: "flow", of: "f", meter: "tokens" })).toBe(7);
    expect(ledger.takeRows(0)).toBeUndefined();
  });
});
