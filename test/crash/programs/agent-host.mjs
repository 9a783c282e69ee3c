// A host that runs an agent of three turns with two calls each, and decides about the calls that wait for somebody: one is approved,
// one is refused. It takes up what its directory holds, works until the agent has ended, and says how often it committed.
//
//   node agent-host.mjs '{ "dir", "world", "policy", "die"? }'
//
// `world` and `policy` are files that only grow: what effects did, and what the policy was asked. `die` is one of
//   { "sequence" }      the event of that position is durable
//   { "passed" }        a named moment of an effect: "agent:clerk#turn:0 started", "... finished"
//   { "point", ... }    a moment of a commit or a snapshot (dying-store.mjs)
// `careless` breaks the rule the tests hold: the flow itself does what only an effect may do.

import { fsyncSync, openSync, writeSync } from "node:fs";
import { agent$, defineConfig, defineFlow, flow$, lmdbStorage, tool$ } from "heddle";
import { agentLoop$, conversationOf, pendingCalls } from "heddle/agent";
import { z } from "zod";
import { dyingStores } from "./dying-store.mjs";

const { dir, world, policy, die, careless } = JSON.parse(process.argv[2]);
const ID = "x";
const outside = openSync(world, "a");
const asked = openSync(policy, "a");
const say = (what, more) => void writeSync(1, `${JSON.stringify({ what, ...more })}\n`);

/** On the disk before it returns: whatever happens to us afterwards, the world has seen it. */
function write(file, line) {
  writeSync(file, `${JSON.stringify(line)}\n`);
  fsyncSync(file);
}

function tell(moment, { executionId, stepId, idempotencyKey, attempt }) {
  write(outside, { moment, executionId, stepId, idempotencyKey, attempt });
  if (die?.passed === `${stepId} ${moment}ed`) process.kill(process.pid, "SIGKILL");
}

const told = (run) => ({
  kind: "tool",
  async execute(input, ctx) {
    tell("start", ctx);
    const result = await run(input, ctx);
    tell("finish", ctx);
    return result;
  },
});

const call = (id, name, path) => ({ id, name, input: { path } });
const SCRIPT = [
  { content: "Looking.", toolCalls: [call("c0", "read", "a"), call("c1", "write", "b")] },
  { content: "", toolCalls: [call("c2", "write", "c"), call("c3", "read", "d")] },
  { content: "", toolCalls: [call("c4", "read", "e"), call("c5", "read", "f")] },
  { content: "All done.", stopReason: "end" },
];
const effects = {
  model: {
    ...told(({ messages }) => SCRIPT[messages.filter(({ role }) => role === "assistant").length]),
    kind: "llm",
  },
  read: told(({ path }) => ({ path, text: `what ${path} says` })),
  write: told(({ path }) => ({ path, bytes: 3 })),
};

const inputSchema = z.object({ path: z.string() });
const tools = ["read", "write"].map((id) =>
  tool$({ id, description: `Does ${id}`, inputSchema, outputSchema: z.unknown() }),
);
const definition = agent$({ id: "clerk", tools });
const anything = z.unknown();
const flow = defineFlow(
  flow$({ id: "agent", version: "1", inputSchema: anything, outputSchema: anything }),
  async (ctx) => {
    const needsApproval = ({ id, name }) => {
      write(asked, id);
      return name === "write";
    };
    const result = await agentLoop$(
      ctx,
      { definition, modelToolId: "model", needsApproval },
      { prompt: "go" },
    );
    if (careless)
      tell("start", {
        executionId: ID,
        stepId: "agent:clerk#turn:0",
        idempotencyKey: `${ID}/agent:clerk#turn:0`,
        attempt: 99,
      });
    return { result, conversation: conversationOf(result) };
  },
);

let batches = 0;
const storage = lmdbStorage({ dir, sync: "flush" });
const opened = defineConfig({ storage, autostart: false });
const app = defineConfig({
  storage: {
    kind: "custom",
    ...dyingStores(opened.stores, die?.point ? die : {}, () => {
      batches++;
    }),
  },
  flows: [flow],
  autostart: false,
  durability: { snapshotEvery: 5 },
  execution: {
    registerEffects: (registry) => {
      for (const [id, effect] of Object.entries(effects)) registry.register(id, effect);
    },
  },
  observability: {
    onDurableEvent: ({ sequence }) => {
      if (sequence === die?.sequence) process.kill(process.pid, "SIGKILL");
    },
    onWarn: (message) => say("warning", { message }),
    onStorageError: (_id, error) => say("storage", { message: String(error) }),
  },
});
const { runtime, stores } = app;
try {
  await app.start();
} catch (error) {
  say("refused", { code: error.code });
  process.exit(0);
}
if (!(await stores.eventStore.find(ID))) await runtime.start(flow, null, { executionId: ID });
const handle = runtime.handle(ID);
for (;;) {
  const state = await handle.settled();
  if (state.status !== "suspended") break;
  for (const { on, correlationKey, input } of pendingCalls(state)) {
    const payload = { approved: input.path === "b", reason: "not today" };
    await runtime.resume(ID, { eventType: on, correlationKey, requestId: correlationKey, payload });
  }
}
say("ended", { batches });
await app.close();
await opened.close();
