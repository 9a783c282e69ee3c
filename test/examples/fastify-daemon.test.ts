// The Fastify daemon, run as users run it: a real process, real HTTP, real signals (C-EMB-01, C-LIF-04).
//
// What steps do is seen from outside, by a payment provider that belongs to the test: it notes every request, and holds
// its answers back for as long as a test wants executions to be under way. Nothing here waits for time to pass.

import { createServer, get, IncomingMessage, ServerResponse } from "node:http";
import { connect, Socket } from "node:net";
import { json } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { HeddleError as DaemonError } from "heddle";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { answerTo } from "../../examples/fastify-daemon/errors.js";
import { EventStreams } from "../../examples/fastify-daemon/events.js";
import { Service } from "../../examples/fastify-daemon/service.js";
import { ERROR_CODES, type EventStore, type HeddleErrorCode } from "../../src/index.js";
import { type Child, startChild } from "../crash/child.js";
import { flow, openApp, temporaryDirectory, turns, within } from "../lifecycle/world.js";
import { Example } from "./example.js";

let example: Example;

beforeAll(() => {
  example = new Example("fastify-daemon");
}, 60_000);

afterAll(() => example.remove());

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Headers;
}

interface StreamEvent {
  readonly id: number;
  readonly type: string;
  readonly data: { readonly timestamp: number; readonly payload: unknown };
}

/** A running daemon and what its clients do. */
class Daemon {
  readonly child: Child;
  readonly url: string;

  private constructor(child: Child, url: string) {
    this.child = child;
    this.url = url;
  }

  static spawn(env: Record<string, string> = {}, args: string[] = []): Child {
    const child = startChild(pathToFileURL(example.main), {
      args,
      env: { PORT: "0", SHUTDOWN_MS: "10000", ...env },
    });
    onTestFinished(() => child.kill("SIGKILL"));
    return child;
  }

  static async start(env: Record<string, string>, args: string[] = []): Promise<Daemon> {
    const child = Daemon.spawn(env, args);
    const line = await within(
      child.line((text) => text.startsWith("listening on ")),
      "the daemon listens",
      15_000,
    );
    return new Daemon(child, line.slice("listening on ".length));
  }

  async request(method: string, path: string, init: RequestInit = {}): Promise<Answer> {
    const response = await fetch(this.url + path, { ...init, method, signal: AbortSignal.timeout(20_000) });
    const text = await response.text();
    return {
      status: response.status,
      body: text === "" ? undefined : JSON.parse(text),
      headers: response.headers,
    };
  }

  post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.request("POST", path, {
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  }

  async refund(id: string, cents = 500): Promise<void> {
    const { status, body } = await this.post("/refunds", refundOf(id, cents));
    expect({ status, body }).toEqual({ status: 202, body: { id } });
  }

  async state(id: string): Promise<Record<string, unknown>> {
    const { status, body } = await this.request("GET", `/refunds/${id}`);
    expect(status).toBe(200);
    return z.record(z.string(), z.unknown()).parse(body);
  }

  /** The events of a refund as they come, until the daemon ends the stream. */
  async *events(id: string, last?: number, signal?: AbortSignal): AsyncGenerator<StreamEvent> {
    const response = await fetch(`${this.url}/refunds/${id}/events`, {
      headers: last === undefined ? {} : { "last-event-id": String(last) },
      ...(signal && { signal }),
    });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    let text = "";
    for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
      const blocks = (text + part).split("\n\n");
      text = blocks.pop()!;
      for (const block of blocks) {
        const event = /^id: (\d+)\nevent: (\S+)\ndata: (.+)$/.exec(block);
        if (event)
          yield {
            id: Number(event[1]),
            type: event[2]!,
            data: JSON.parse(event[3]!) as StreamEvent["data"],
          };
        else expect(block).toMatch(/^(retry: \d+|: still here)$/);
      }
    }
  }

  /** Reads a refund's events up to one of this type, or to the end. */
  async eventsUntil(id: string, type?: string, last?: number): Promise<StreamEvent[]> {
    const seen: StreamEvent[] = [];
    const reading = (async () => {
      for await (const event of this.events(id, last)) {
        seen.push(event);
        if (event.type === type) break;
      }
    })();
    await within(reading, `events of ${id} up to ${type ?? "the end"}`, 20_000);
    return seen;
  }

  /** Waits for the end of a refund. */
  async outcome(id: string): Promise<unknown> {
    await this.eventsUntil(id);
    const { status, outcome } = await this.state(id);
    expect(status).toBe("completed");
    return outcome;
  }
}

const refundOf = (id: string, cents = 500) => ({ id, order: `order-${id}`, cents, reason: "broken" });
const approval = { approved: true, by: "ops" };
const paidFor = (id: string) => ({ kind: "paid", receipt: `receipt of ${id}/pay` });
const codeOf = ({ status, body }: Answer): string =>
  `${status} ${z.object({ code: z.string() }).parse(body).code}`;
const numbered = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, n) => `${prefix}${n}`);

interface PaymentRequest {
  readonly key: string;
  readonly order: string;
  readonly cents: number;
}

interface Provider {
  readonly url: string;
  /** Every request, in the order they came. */
  readonly requests: readonly PaymentRequest[];
  /** Answers nothing from now on. */
  hold(): void;
  /** Answers what is held and chosen. Without a choice everything is, and nothing is held any more. */
  release(choose?: (request: PaymentRequest) => boolean): void;
  /** Resolves when exactly so many requests wait for their answer. One whose client hung up does not wait. */
  held(count: number): Promise<void>;
  /** The next answer. */
  answerOnce(status: number, text: string): void;
}

const PaymentBody = z.object({ order: z.string(), cents: z.number() });

/** A real HTTP server that pays once for one idempotency key. It is open for the length of a test. */
async function openProvider(): Promise<Provider> {
  const requests: PaymentRequest[] = [];
  const waiting = new Map<ServerResponse, PaymentRequest>();
  const refusals: { status: number; text: string }[] = [];
  const checks = new Set<() => void>();
  let holds = false;
  const check = (): void => {
    for (const each of checks) each();
  };

  const answer = (response: ServerResponse, { key }: PaymentRequest): void => {
    waiting.delete(response);
    const refusal = refusals.shift();
    if (refusal) response.writeHead(refusal.status).end(refusal.text);
    else response.setHeader("content-type", "application/json").end(`{"receipt":"receipt of ${key}"}`);
  };

  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const key = String(incoming.headers["idempotency-key"]);
    const request = { key, ...PaymentBody.parse(await json(incoming)) };
    requests.push(request);
    if (!holds) return answer(response, request);
    waiting.set(response, request);
    response.once("close", () => {
      waiting.delete(response);
      check();
    });
    check();
  };
  const server = createServer((incoming, response) => void serve(incoming, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The provider has no port.");

  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    hold: () => {
      holds = true;
    },
    release: (choose) => {
      if (!choose) holds = false;
      for (const [response, request] of waiting) if (!choose || choose(request)) answer(response, request);
      check();
    },
    held: (count) =>
      within(
        new Promise<void>((resolve) => {
          const look = (): void => {
            if (waiting.size !== count) return;
            checks.delete(look);
            resolve();
          };
          checks.add(look);
          look();
        }),
        `${count} payments wait for their answer`,
        20_000,
      ),
    answerOnce: (status, text) => void refusals.push({ status, text }),
  };
}

describe("the HTTP interface", () => {
  let provider: Provider;
  const daemonWithProvider = async (): Promise<Daemon> => {
    provider = await openProvider();
    return Daemon.start({ DATA_DIR: temporaryDirectory(), PAYMENTS_URL: provider.url });
  };

  it("pays a small refund at once, and one refund once for one id (C-LIF-05)", async () => {
    const daemon = await daemonWithProvider();
    const first = await daemon.post("/refunds", refundOf("r1"));
    expect(first).toMatchObject({ status: 202, body: { id: "r1" } });
    expect(first.headers.get("location")).toBe("/refunds/r1");
    expect(await daemon.outcome("r1")).toEqual(paidFor("r1"));
    // The order of properties is no difference; any other value is.
    const { id, order, cents, reason } = refundOf("r1");
    expect((await daemon.post("/refunds", { reason, cents, order, id })).status).toBe(202);
    expect(codeOf(await daemon.post("/refunds", refundOf("r1", 501)))).toBe("409 EXECUTION_CONFLICT");
    expect(provider.requests).toEqual([{ key: "r1/pay", order: "order-r1", cents: 500 }]);
    expect(await daemon.state("r1")).toMatchObject({
      id: "r1",
      status: "completed",
      refund: { order: "order-r1", cents: 500, reason: "broken" },
      waitingFor: [],
    });
  });

  it("holds a large refund until somebody decides, and counts one decision", async () => {
    const daemon = await daemonWithProvider();
    await daemon.refund("large", 500_00);
    await daemon.eventsUntil("large", "EXECUTION_SUSPENDED");
    const waiting = { status: "suspended", waitingFor: [{ gate: "RefundApproval" }] };
    expect(await daemon.state("large")).toMatchObject(waiting);

    const path = "/refunds/large/approval";
    const refused = await daemon.post(path, { approved: "yes", by: "ops" });
    expect(codeOf(refused)).toBe("400 RESUME_PAYLOAD_INVALID");
    expect(refused.body).toMatchObject({ issues: [{ path: "approved" }] });
    expect(codeOf(await daemon.request("POST", path))).toBe("400 RESUME_PAYLOAD_INVALID");
    expect(codeOf(await daemon.post(path, approval, { "idempotency-key": "x".repeat(201) }))).toBe(
      "400 REQUEST_INVALID",
    );
    expect(await daemon.state("large")).toMatchObject(waiting);
    expect(provider.requests).toEqual([]);

    const key = { "idempotency-key": "click-1" };
    expect((await daemon.post(path, approval, key)).status).toBe(202);
    expect((await daemon.post(path, approval, key)).status).toBe(202);
    expect(await daemon.outcome("large")).toEqual(paidFor("large"));
    expect((await daemon.post(path, approval, key)).status).toBe(202);
    expect(codeOf(await daemon.post(path, approval, { "idempotency-key": "click-2" }))).toBe(
      "409 GATE_ALREADY_RESOLVED",
    );
    expect(codeOf(await daemon.post(path, approval))).toBe("409 GATE_ALREADY_RESOLVED");
    expect(provider.requests).toHaveLength(1);
  });

  it("tells the outcomes apart: refused by a person, declined by the provider, paid at the second attempt", async () => {
    const daemon = await daemonWithProvider();
    await daemon.refund("refused", 500_00);
    await daemon.eventsUntil("refused", "EXECUTION_SUSPENDED");
    const no = { approved: false, by: "ops", note: "bought elsewhere" };
    expect((await daemon.post("/refunds/refused/approval", no)).status).toBe(202);
    expect(await daemon.outcome("refused")).toEqual({ kind: "refused", by: "ops", note: "bought elsewhere" });

    provider.answerOnce(402, "no such card");
    await daemon.refund("declined");
    expect(await daemon.outcome("declined")).toEqual({ kind: "declined", reason: "402: no such card" });

    provider.answerOnce(503, "back soon");
    await daemon.refund("flaky");
    expect(await daemon.outcome("flaky")).toEqual(paidFor("flaky"));
    expect(provider.requests.map(({ key }) => key)).toEqual(["declined/pay", "flaky/pay", "flaky/pay"]);
  });

  it("cancels: the payment that is under way is aborted, and what has ended is not cancelled", async () => {
    const daemon = await daemonWithProvider();
    provider.hold();
    await daemon.refund("stopped");
    await provider.held(1);
    expect((await daemon.request("DELETE", "/refunds/stopped?reason=mistake")).status).toBe(204);
    await provider.held(0); // the daemon has hung up
    expect(await daemon.state("stopped")).toMatchObject({ status: "cancelled", reason: "mistake" });
    expect((await daemon.request("DELETE", "/refunds/stopped")).status).toBe(204);
    expect((await daemon.eventsUntil("stopped")).at(-1)).toMatchObject({ type: "EXECUTION_CANCELLED" });
    expect(codeOf(await daemon.post("/refunds/stopped/approval", approval))).toBe("409 EXECUTION_ENDED");

    provider.release();
    await daemon.refund("done");
    await daemon.outcome("done");
    expect(codeOf(await daemon.request("DELETE", "/refunds/done"))).toBe("409 EXECUTION_ENDED");
  });

  it("lists page by page, newest first", async () => {
    const daemon = await daemonWithProvider();
    const ids = numbered("r", 5);
    for (const id of ids) await daemon.refund(id, id === "r2" ? 500_00 : 500);
    for (const id of ids) await daemon.eventsUntil(id, id === "r2" ? "EXECUTION_SUSPENDED" : undefined);
    const Listed = z.object({
      refunds: z.array(z.object({ id: z.string(), status: z.string() })),
      next: z.string().optional(),
    });
    const list = async (query: string) => {
      const { refunds, next } = Listed.parse((await daemon.request("GET", `/refunds${query}`)).body);
      return { ids: refunds.map(({ id }) => id), next };
    };
    expect(await list("")).toEqual({ ids: ids.toReversed(), next: undefined });
    expect(await list("?limit=2")).toEqual({ ids: ["r4", "r3"], next: "r3" });
    expect(await list("?limit=2&after=r3")).toEqual({ ids: ["r2", "r1"], next: "r1" });
    expect(await list("?status=suspended")).toEqual({ ids: ["r2"], next: undefined });
    expect(codeOf(await daemon.request("GET", "/refunds?after=nobody"))).toBe("404 EXECUTION_UNKNOWN");
  });

  it("refuses what it cannot use, each with a code and nothing recorded", async () => {
    const daemon = await daemonWithProvider();
    await daemon.refund("known");
    const raw = (body: string, type = "application/json") =>
      daemon.request("POST", "/refunds", { headers: { "content-type": type }, body });
    const cases: [Promise<Answer>, string][] = [
      [daemon.post("/refunds", { ...refundOf("../etc"), id: "../etc" }), "400 REQUEST_INVALID"],
      [daemon.post("/refunds", { ...refundOf("a"), id: undefined }), "400 REQUEST_INVALID"],
      [daemon.post("/refunds", refundOf("x".repeat(65))), "400 REQUEST_INVALID"],
      [daemon.post("/refunds", refundOf("a", 1.5)), "400 REQUEST_INVALID"],
      [daemon.post("/refunds", refundOf("a", -5)), "400 REQUEST_INVALID"],
      [daemon.post("/refunds", { ...refundOf("a"), extra: 1 }), "400 REQUEST_INVALID"],
      [daemon.post("/refunds", []), "400 REQUEST_INVALID"],
      [daemon.post("/refunds", null), "400 REQUEST_INVALID"],
      [raw("{"), "400 FST_ERR_CTP_INVALID_JSON_BODY"],
      [raw(""), "400 FST_ERR_CTP_EMPTY_JSON_BODY"],
      [raw("<refund/>", "application/xml"), "415 FST_ERR_CTP_INVALID_MEDIA_TYPE"],
      [raw(`{"id":"${"x".repeat(20_000)}"}`), "413 FST_ERR_CTP_BODY_TOO_LARGE"],
      [daemon.request("GET", "/refunds?limit=0"), "400 REQUEST_INVALID"],
      [daemon.request("GET", "/refunds?status=lost"), "400 REQUEST_INVALID"],
      [daemon.request("GET", "/refunds?colour=red"), "400 REQUEST_INVALID"],
      [daemon.request("GET", "/refunds/nobody"), "404 EXECUTION_UNKNOWN"],
      [daemon.request("GET", "/refunds/a%2Fb"), "400 REQUEST_INVALID"],
      [daemon.request("GET", "/refunds/nobody/events"), "404 EXECUTION_UNKNOWN"],
      [
        daemon.request("GET", "/refunds/known/events", { headers: { "last-event-id": "-1" } }),
        "400 REQUEST_INVALID",
      ],
      [
        daemon.request("GET", "/refunds/known/events", { headers: { "last-event-id": "99" } }),
        "400 REQUEST_INVALID",
      ],
      [daemon.post("/refunds/nobody/approval", approval), "404 EXECUTION_UNKNOWN"],
      [daemon.request("DELETE", "/refunds/nobody"), "404 EXECUTION_UNKNOWN"],
      [daemon.request("PUT", "/refunds/known"), "404 ROUTE_UNKNOWN"],
    ];
    for (const [answer, expected] of cases) expect(codeOf(await answer)).toBe(expected);
    const { body } = await daemon.request("GET", "/refunds");
    expect(body).toMatchObject({ refunds: [{ id: "known" }] });
    provider.hold();
    await daemon.refund("paying");
    await provider.held(1);
    expect(codeOf(await daemon.post("/refunds/paying/approval", approval))).toBe("409 GATE_NOT_OPEN");
  });
});

describe("events", () => {
  it("come as they happen, go on after the last one seen, and end with the execution", async () => {
    const provider = await openProvider();
    const daemon = await Daemon.start({ DATA_DIR: temporaryDirectory(), PAYMENTS_URL: provider.url });
    await daemon.refund("r", 500_00);
    const before = await daemon.eventsUntil("r", "EXECUTION_SUSPENDED");
    expect(before.map(({ type }) => type)).toEqual([
      "EXECUTION_STARTED",
      "DECISION_RECORDED",
      "EXECUTION_SUSPENDED",
    ]);
    // Connected while nothing happens, so what it gets comes live.
    const live = daemon.eventsUntil("r", undefined, 2);
    await daemon.post("/refunds/r/approval", approval);
    const after = await live;
    expect(after.map(({ type }) => type)).toEqual([
      "RefundApproval",
      "EXECUTION_RESUMED",
      "STEP_STARTED",
      "STEP_COMPLETED",
      "EXECUTION_COMPLETED",
    ]);
    expect([...before, ...after].map(({ id }) => id)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(after.at(-1)?.data.payload).toEqual({ output: paidFor("r") });
    expect(await daemon.eventsUntil("r")).toEqual([...before, ...after]);
    // 204 is what keeps an EventSource from coming back for ever.
    const done = await daemon.request("GET", "/refunds/r/events", { headers: { "last-event-id": "7" } });
    expect(done.status).toBe(204);
  });

  it("end their subscription when the client goes", async () => {
    const daemon = await Daemon.start({ DATA_DIR: temporaryDirectory() });
    await daemon.refund("r", 500_00);
    const going = new AbortController();
    const streams = numbered("client", 3).map(() => daemon.events("r", undefined, going.signal));
    for (const stream of streams) await stream.next();
    const Health = z.object({ status: z.literal("ok"), streams: z.number() });
    const served = async (): Promise<number> =>
      Health.parse((await daemon.request("GET", "/healthz")).body).streams;
    expect(await served()).toBe(3);
    going.abort();
    const noticed = (async () => {
      while ((await served()) > 0);
    })();
    await within(noticed, "the daemon notices");
  });
});

/** A stream's source with its reads and subscriptions counted, and a response that never leaves the process. */
function watchedStreams() {
  const many = flow("many", async (ctx) => {
    for (let n = 0; n < 2_000; n++) ctx.emit("Tick", n);
    await ctx.suspend({ on: "go" });
    for (let n = 0; n < 2_000; n++) ctx.emit("Tock", n);
  });
  const app = openApp({ flows: [many] });
  const store = app.stores.eventStore;
  const count = { reads: 0, subscribed: 0 };
  const eventStore: EventStore = {
    partitions: store.partitions,
    open: (partition) => store.open(partition),
    find: (id) => store.find(id),
    list: (filter) => store.list(filter),
    close: () => store.close(),
    read: (id, range) => {
      count.reads++;
      return store.read(id, range);
    },
    subscribe: (id, listener, options) => {
      count.subscribed++;
      const end = store.subscribe(id, listener, options);
      return () => {
        count.subscribed--;
        end();
      };
    },
  };
  const streams = new EventStreams({ runtime: app.runtime, stores: { ...app.stores, eventStore } });
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  return { app, many, count, streams, response };
}

describe("a stream of events", () => {
  it("reads no further than its client does (E1), and gives every event once (E2)", async () => {
    const { app, many, count, streams, response } = watchedStreams();
    const handle = await app.runtime.start(many, 0, { executionId: "x" });
    await handle.waitForSuspend();
    const stream = await streams.open("x", { after: -1, response });
    const chunks: AsyncIterator<string, undefined> = stream!.iterator();
    const take = async (): Promise<string> => (await chunks.next()).value ?? "";
    let text = (await take()) + (await take());
    expect(text).toContain("id: 0\nevent: EXECUTION_STARTED\n");
    await app.runtime.resume("x", { eventType: "go" });
    await handle.waitForCompletion();
    await turns(50);
    expect(count.reads).toBe(1);
    for (let chunk = await take(); chunk !== ""; chunk = await take()) text += chunk;
    const ids = Array.from(text.matchAll(/^id: (\d+)$/gm), ([, id]) => Number(id));
    expect(ids).toEqual(Array.from({ length: 4_000 + 5 }, (_, n) => n));
    expect(count.subscribed).toBe(0);
  });

  it("ends when its client goes, when the service closes, and at once when either came first (E3)", async () => {
    const { app, many, count, streams, response } = watchedStreams();
    await (await app.runtime.start(many, 0, { executionId: "x" })).waitForSuspend();
    const textOf = async (from: ServerResponse) => {
      const stream = await streams.open("x", { after: 2_000, response: from });
      const reading = stream!.toArray();
      await turns(20);
      return { reading };
    };
    const first = await textOf(response);
    expect({ subscribed: count.subscribed, size: streams.size }).toEqual({ subscribed: 1, size: 1 });
    response.emit("close");
    await within(first.reading, "the stream whose client has gone");
    expect({ subscribed: count.subscribed, size: streams.size }).toEqual({ subscribed: 0, size: 0 });

    const gone = new ServerResponse(new IncomingMessage(new Socket()));
    gone.destroyed = true;
    await within((await textOf(gone)).reading, "the stream of a client that had gone before");

    const second = await textOf(new ServerResponse(new IncomingMessage(new Socket())));
    expect(count.subscribed).toBe(1);
    streams.close();
    await within(second.reading, "the stream of a service that closes");
    const late = await textOf(new ServerResponse(new IncomingMessage(new Socket())));
    await within(late.reading, "the stream that came too late");
    expect(count.subscribed).toBe(0);
  });
});

describe("SIGTERM", () => {
  it("ends the process in time with code 0 while 50 executions run, and nothing is lost (C-LIF-04)", async () => {
    const provider = await openProvider();
    const env = { DATA_DIR: temporaryDirectory(), PAYMENTS_URL: provider.url };
    const daemon = await Daemon.start({ ...env, SHUTDOWN_MS: "3000" });
    provider.hold();
    const ids = numbered("r", 50);
    await Promise.all([...ids.map((id) => daemon.refund(id)), daemon.refund("parked", 500_00)]);
    await provider.held(50);
    const cut = daemon.eventsUntil("r49");
    await daemon.eventsUntil("r49", "STEP_STARTED");

    const begun = performance.now();
    daemon.child.kill("SIGTERM");
    daemon.child.kill("SIGINT"); // as npm and a terminal do: once more is no harm
    await daemon.child.line((line) => line.startsWith("stopping: SIG"));
    const [finished, unfinished] = [ids.slice(0, 25), ids.slice(25)];
    provider.release(({ key }) => finished.includes(key.replace("/pay", "")));
    const seen = await cut; // the stream ended, without the end of its execution
    expect(seen.map(({ id }) => id)).toEqual([0, 1, 2]);
    expect(await daemon.child.ended).toEqual({ code: 0, signal: null, stderr: "" });
    expect(performance.now() - begun).toBeLessThan(3_000 + 3_000);
    // Only what the program itself says: the library wrote nothing (C-EMB-01).
    expect(daemon.child.lines).toEqual([
      `listening on ${daemon.url}`,
      expect.stringMatching(/^stopping: SIG(TERM|INT)$/),
      "stopped",
    ]);
    await provider.held(0);

    provider.release();
    const next = await Daemon.start(env);
    for (const id of ids) expect(await next.outcome(id)).toEqual(paidFor(id));
    const rest = await next.eventsUntil("r49", undefined, seen.at(-1)?.id);
    expect(rest.map(({ id }) => id)).toEqual([3, 4, 5]);
    expect(rest.map(({ type }) => type)).toEqual(["STEP_RETRIED", "STEP_COMPLETED", "EXECUTION_COMPLETED"]);
    const requestsOf = (id: string): number =>
      provider.requests.filter(({ key }) => key === `${id}/pay`).length;
    expect(finished.map(requestsOf)).toEqual(finished.map(() => 1));
    expect(unfinished.map(requestsOf)).toEqual(unfinished.map(() => 2));
    expect(await next.state("parked")).toMatchObject({ status: "suspended" });
    expect((await next.post("/refunds/parked/approval", approval)).status).toBe(202);
    expect(await next.outcome("parked")).toEqual(paidFor("parked"));
  });

  it("ends at once when nothing runs, with clients connected", async () => {
    const daemon = await Daemon.start({ DATA_DIR: temporaryDirectory(), SHUTDOWN_MS: "60000" });
    await daemon.refund("parked", 500_00);
    // Not by fetch, which takes a stream that was cut for one that has ended.
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(`${daemon.url}/refunds/parked/events`, resolve).once("error", reject);
    });
    // Kept alive, the connection would outlive its stream, and the server would wait for it.
    expect(response.headers.connection).toBe("close");
    let text = "";
    for await (const part of response.setEncoding("utf8")) {
      text += String(part);
      if (text.includes("EXECUTION_SUSPENDED")) daemon.child.kill("SIGTERM");
    }
    expect(response.complete).toBe(true);
    expect(await within(daemon.child.ended, "the end", 10_000)).toMatchObject({ code: 0 });
  });

  it("is not held up by a request that never ends", async () => {
    const daemon = await Daemon.start({ DATA_DIR: temporaryDirectory(), SHUTDOWN_MS: "60000" });
    const socket = connect(Number(new URL(daemon.url).port), "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    const inHand = new Promise<string>((resolve, reject) => {
      socket.setEncoding("utf8").once("data", resolve).once("error", reject);
    });
    socket.write("POST /refunds HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\n");
    socket.write("content-type: application/json\r\ncontent-length: 100\r\n\r\n");
    expect(await within(inHand, "the daemon has the request")).toContain("100 Continue");
    socket.on("error", () => {}); // it will be reset
    daemon.child.kill("SIGTERM");
    expect(await within(daemon.child.ended, "the end", 10_000)).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("SIGKILL", () => {
  it("loses nothing that was answered, and a restart goes on with all of it (C-LIF-01)", async () => {
    const provider = await openProvider();
    const env = { DATA_DIR: temporaryDirectory(), PAYMENTS_URL: provider.url };
    const daemon = await Daemon.start(env);
    const done = numbered("done", 5);
    for (const id of done) await daemon.refund(id);
    for (const id of done) expect(await daemon.outcome(id)).toEqual(paidFor(id));
    provider.hold();
    const paying = numbered("paying", 20);
    for (const id of paying) await daemon.refund(id);
    const parked = numbered("parked", 5);
    for (const id of parked) await daemon.refund(id, 500_00);
    for (const id of parked) await daemon.eventsUntil(id, "EXECUTION_SUSPENDED");
    await provider.held(20);

    // Killed while requests are coming in: some are answered, some are not, and their clients cannot know more.
    const sent = numbered("sent", 200);
    const answered: string[] = [];
    await Promise.all(
      sent.map(async (id) => {
        const answer = await daemon.post("/refunds", refundOf(id)).catch(() => undefined);
        if (answer?.status === 202 && answered.push(id) === 40) daemon.child.kill("SIGKILL");
      }),
    );
    expect(await daemon.child.ended).toMatchObject({ code: null, signal: "SIGKILL" });
    expect(answered.length).toBeGreaterThanOrEqual(40);

    provider.release();
    const next = await Daemon.start(env);
    for (const id of answered) expect(await next.outcome(id)).toEqual(paidFor(id));
    for (const id of sent) await next.refund(id); // sent again, as a client does that got no answer
    for (const id of [...sent, ...paying, ...done]) expect(await next.outcome(id)).toEqual(paidFor(id));
    for (const id of parked) {
      expect((await next.post(`/refunds/${id}/approval`, approval)).status).toBe(202);
      expect(await next.outcome(id)).toEqual(paidFor(id));
    }
    const requested = provider.requests.map(({ key }) => key);
    for (const id of done) expect(requested.filter((key) => key === `${id}/pay`)).toHaveLength(1);
    for (const id of paying) expect(requested.filter((key) => key === `${id}/pay`)).toHaveLength(2);
    expect(new Set(requested).size).toBe(5 + 20 + 5 + 200);
  });
});

describe("--threads", () => {
  it("serves, survives SIGKILL and stops in time as it does in one thread, on the same directory (C-LIF-01, C-LIF-04)", async () => {
    const provider = await openProvider();
    const env = { DATA_DIR: temporaryDirectory(), PAYMENTS_URL: provider.url };
    const threadsOf = async (daemon: Daemon) =>
      z.object({ threads: z.number() }).parse((await daemon.request("GET", "/healthz")).body).threads;
    const alone = await Daemon.start(env);
    expect(await threadsOf(alone)).toBe(0);
    provider.hold();
    await alone.refund("begun");
    await alone.refund("parked", 500_00);
    await alone.eventsUntil("parked", "EXECUTION_SUSPENDED");
    await provider.held(1);
    alone.child.kill("SIGKILL");
    await alone.child.ended;
    await provider.held(0);

    const killed = await Daemon.start(env, ["--threads"]);
    await provider.held(1); // the payment that was under way
    await Promise.all(numbered("r", 20).map((id) => killed.refund(id)));
    expect(codeOf(await killed.post("/refunds", refundOf("r0", 501)))).toBe("409 EXECUTION_CONFLICT");
    expect(codeOf(await killed.post("/refunds/parked/approval", { approved: "yes" }))).toBe(
      "400 RESUME_PAYLOAD_INVALID",
    );
    await provider.held(21);
    killed.child.kill("SIGKILL");
    await killed.child.ended;
    await provider.held(0);

    const daemon = await Daemon.start(env, ["--threads"]);
    await provider.held(21);
    expect(await threadsOf(daemon)).toBe(1);
    const key = { "idempotency-key": "click-1" };
    for (let click = 0; click < 2; click++)
      expect((await daemon.post("/refunds/parked/approval", approval, key)).status).toBe(202);
    await provider.held(22);
    // Cancelling hangs up on the provider, from the pool's thread.
    expect((await daemon.request("DELETE", "/refunds/r19")).status).toBe(204);
    await provider.held(21);
    provider.answerOnce(402, "no such card");
    provider.release(({ key: paying }) => paying === "r18/pay");
    expect(await daemon.outcome("r18")).toEqual({ kind: "declined", reason: "402: no such card" });
    provider.release(({ key: paying }) => paying !== "r0/pay");
    for (const id of ["begun", "parked", ...numbered("r", 18).slice(1)])
      expect(await daemon.outcome(id)).toEqual(paidFor(id));

    await provider.held(1);
    daemon.child.kill("SIGTERM");
    await daemon.child.line((line) => line.startsWith("stopping: "));
    provider.release(); // within the deadline
    expect(await within(daemon.child.ended, "the end", 15_000)).toEqual({
      code: 0,
      signal: null,
      stderr: "",
    });
    expect(daemon.child.lines).toHaveLength(3);
    const last = await Daemon.start(env);
    expect(await last.outcome("r0")).toEqual(paidFor("r0"));
    expect(provider.requests.filter((request) => request.key === "r0/pay")).toHaveLength(2);
  });
});

describe("the command line", () => {
  it("says what may be set, and refuses what is set wrongly", async () => {
    const help = Daemon.spawn({}, ["--help"]);
    expect(await help.ended).toEqual({ code: 0, signal: null, stderr: "" });
    expect(help.lines.join("\n")).toContain("DATA_DIR");
    const misuses = [
      Daemon.spawn({}, ["--port", "80"]),
      Daemon.spawn({ PORT: "http" }),
      Daemon.spawn({ SHUTDOWN_MS: "-1" }),
      Daemon.spawn({ PAYMENTS_URL: "no url" }),
      Daemon.spawn({ LOG_LEVEL: "loud" }),
    ];
    const complaints = ["--port", "PORT", "SHUTDOWN_MS", "PAYMENTS_URL", "LOG_LEVEL"];
    for (const [i, child] of misuses.entries()) {
      const { code, stderr } = await child.ended;
      expect(code).toBe(2);
      expect(stderr.split("\n\n")[0]).toContain(complaints[i]);
      expect(child.lines).toEqual([]);
    }
  });

  it("ends with code 1 when the directory is another process's, or the port is taken", async () => {
    const dir = temporaryDirectory();
    const daemon = await Daemon.start({ DATA_DIR: dir });
    const second = Daemon.spawn({ DATA_DIR: dir });
    const locked = await within(second.ended, "the second on one directory", 15_000);
    expect(locked.code).toBe(1);
    expect(locked.stderr).toContain(`is owned by process ${daemon.child.pid}`);
    const third = Daemon.spawn({ DATA_DIR: temporaryDirectory(), PORT: new URL(daemon.url).port });
    const taken = await within(third.ended, "the second on one port", 15_000);
    expect(taken.code).toBe(1);
    expect(taken.stderr).toContain("EADDRINUSE");
    expect([...second.lines, ...third.lines]).toEqual([]);
  });
});

describe("the service", () => {
  it("leaves nothing behind when it cannot open, and nothing of it stays in the process (C-EMB-01)", async () => {
    // lmdb-js closes its environments when the process exits, and stays registered for that.
    const names = () => process.eventNames().filter((name) => name !== "exit");
    const listeners = () => names().map((name) => `${String(name)} ${process.listenerCount(name)}`);
    const before = listeners();
    const dataDir = temporaryDirectory();
    const options = {
      host: "127.0.0.1",
      port: 0,
      dataDir,
      shutdownMs: 0,
      logLevel: "silent",
      threads: false,
    };
    const other = await Service.open({ ...options, dataDir: temporaryDirectory() });
    const taken = Service.open({ ...options, port: Number(new URL(other.url).port) });
    await expect(taken).rejects.toMatchObject({ code: "EADDRINUSE" });
    const service = await Service.open(options); // its log is free
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
    expect(listeners()).toEqual(before);
    await service.close(1_000);
    await other.close(1_000);
    expect(listeners()).toEqual(before);
    await expect(fetch(`${service.url}/healthz`)).rejects.toThrow("fetch failed");
  });
});

describe("errors", () => {
  it("have a status for every code, and keep to themselves what is not the client's doing", () => {
    for (const code of Object.keys(ERROR_CODES) as HeddleErrorCode[]) {
      // The daemon knows the package by its name, this test by its sources: the class has to be the daemon's.
      const { status, body } = answerTo(new DaemonError(code, "/secret/path"));
      expect(body.code).toBe(code);
      expect([400, 404, 409, 413, 500, 503]).toContain(status);
      expect(body.message.includes("/secret/path"), code).toBe(status < 500);
    }
    const { status, body } = answerTo(new Error("/secret/path"));
    expect({ status, code: body.code }).toEqual({ status: 500, code: "INTERNAL" });
    expect(body.message).not.toContain("secret");
  });
});
