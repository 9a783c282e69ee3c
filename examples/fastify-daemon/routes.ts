// Routes: the HTTP interface. Every answer is given when it is durable, so a client that got one can rely on it, and a
// client that got none (the connection broke, the process died) can send the same request again.

import type { HeddleApp } from "heddle";
import { z } from "zod";
import type { EventStreams } from "./events.js";
import { refunds } from "./flows.js";
import { Refund } from "./refund.js";
import type { ZodServer } from "./schemas.js";
import { listView, refundView } from "./views.js";

export interface RouteOptions {
  readonly app: HeddleApp;
  readonly streams: EventStreams;
}

/** Clients name their refunds, and the name is part of URLs. */
const RefundId = z.string().regex(/^[a-zA-Z0-9][\w.-]{0,63}$/);
const Params = z.object({ id: RefundId });
const Status = z.enum(["running", "suspended", "completed", "failed", "cancelled", "setAside"]);
const Page = z.strictObject({
  status: Status.optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
  after: RefundId.optional(),
});

export async function routes(server: ZodServer, { app, streams }: RouteOptions): Promise<void> {
  const { runtime, workers } = app;
  const flowId = refunds.definition.id;
  const pathOf = (id: string): string => `/refunds/${id}`;

  // The same id with the same refund attaches to the one that exists; with another refund it is a conflict.
  server.post("/refunds", { schema: { body: Refund.extend({ id: RefundId }) } }, async (request, reply) => {
    const { id, ...refund } = request.body;
    await runtime.start(refunds, refund, { executionId: id });
    return reply.code(202).header("location", pathOf(id)).send({ id });
  });

  server.get("/refunds", { schema: { querystring: Page } }, async (request) => {
    const { status, limit, after } = request.query;
    const found = await runtime.list({ flowId, limit, ...(status && { status }), ...(after && { after }) });
    return { refunds: found.map(listView), next: found.length === limit ? found.at(-1)?.id : undefined };
  });

  server.get("/refunds/:id", { schema: { params: Params } }, async ({ params }) =>
    refundView(await runtime.loadState(params.id)),
  );

  // The body is the gate's payload: heddle checks it by the flow's schema. With a key the request may be repeated.
  const Repeatable = z.object({ "idempotency-key": z.string().min(1).max(200).optional() });
  server.post(
    "/refunds/:id/approval",
    { schema: { params: Params, headers: Repeatable } },
    async ({ params: { id }, headers, body }, reply) => {
      const requestId = headers["idempotency-key"];
      const event = { eventType: "RefundApproval", payload: body };
      await runtime.resume(id, requestId === undefined ? event : { ...event, requestId });
      return reply.code(202).header("location", pathOf(id)).send({ id });
    },
  );

  const Reason = z.strictObject({ reason: z.string().max(500).default("cancelled by a client") });
  server.delete(
    "/refunds/:id",
    { schema: { params: Params, querystring: Reason } },
    async ({ params, query }, reply) => {
      await runtime.cancel(params.id, query.reason);
      return reply.code(204).send();
    },
  );

  const Resumable = z.object({
    "last-event-id": z
      .string()
      .regex(/^\d{1,15}$/, "must be the id of an event")
      .transform(Number)
      .optional(),
  });
  server.get(
    "/refunds/:id/events",
    { schema: { params: Params, headers: Resumable }, exposeHeadRoute: false },
    async ({ params: { id }, headers }, reply) => {
      const events = await streams.open(id, {
        after: headers["last-event-id"] ?? -1,
        response: reply.raw,
      });
      if (!events) return reply.code(204).send(); // which tells an EventSource not to come back
      return reply
        .type("text/event-stream")
        .header("cache-control", "no-store")
        .header("x-accel-buffering", "no") // nginx would collect events before it passes them on
        .header("connection", "close") // or the connection would outlive its stream, and hold up a shutdown
        .send(events);
    },
  );

  server.get("/healthz", async () => {
    await runtime.list({ limit: 1 }); // the log can be read
    const { actors } = await workers.stats();
    return { status: "ok", streams: streams.size, threads: actors.length };
  });
}
