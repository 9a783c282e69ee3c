// A lane's end in its thread: loads the module, runs calls until the lane is retired, and listens for the thread's end.
// A lane is one task of Piscina's, so the thread is busy for Piscina as long as the lane is open.
//
// What a thread loads is most of what starting one costs: the files of this folder import what they need from its own file,
// not through the doors of other rooms.

import { type MessagePort, threadId } from "node:worker_threads";
import type { Redactor } from "../../../effects/secrets/redactor.js";
import { invalidOption } from "../../../kernel/errors.js";
import { answer, exposeControl } from "../../control-line.js";
import { watchLoop } from "../../loop-figures.js";
import { type Message, PACKET_FORMAT, packFailure, postPacket } from "../../packets/index.js";
import { Claims } from "../claims.js";
import type { ThreadControl } from "../control.js";
import { type HostMessage, type LaneTask, ToHost } from "../protocol.js";
import { CallRunner } from "./call-runner.js";
import { describeEffects, type EffectTable, loadEffects } from "./effect-module.js";
import { loadRedactor } from "./secrets-module.js";

/** Of the thread, not of a lane: it goes on while the thread waits for the next lane. */
const readFigures = watchLoop(20);

/** Settles when the lane is retired. */
export async function openLane(task: LaneTask): Promise<void> {
  const { packets, control } = task;
  try {
    const effects = await effectsFor(task);
    await run(task, effects, await loadRedactor(task.module));
  } catch (error) {
    post(packets, [ToHost.refused, packFailure(error)]);
  } finally {
    packets.close();
    control.close();
  }
}

async function effectsFor({ format, module }: LaneTask): Promise<EffectTable> {
  if (format !== PACKET_FORMAT) {
    throw invalidOption(
      "workers.effects.entry",
      `is of another version of heddle (packets ${PACKET_FORMAT}, not ${format})`,
    );
  }
  return loadEffects(module);
}

async function run(task: LaneTask, effects: EffectTable, redactor: Redactor | undefined): Promise<void> {
  const { packets, control, claims, limits, maxCalls } = task;
  let retire = (): void => {};
  const retired = new Promise<void>((resolve) => {
    retire = resolve;
  });
  const runner = new CallRunner({
    port: packets,
    effects,
    redactor,
    claims: new Claims(claims),
    limits,
    maxCalls,
    onRetire: retire,
  });
  // These are the thread's own events, not those of the host's process.
  const onEnd = (): void => runner.lastWords();
  const onUncaught = (error: unknown): void => {
    redactor?.cleanse(error);
    onEnd();
  };
  process.on("uncaughtExceptionMonitor", onUncaught);
  process.on("exit", onEnd);
  exposeControl<ThreadControl>(
    {
      describe: () => answer(() => describeEffects(effects)),
      stats: () => answer(readFigures),
      inspect: () => answer(() => runner.inspect()),
      tune: (maxCalls) =>
        answer(() => {
          runner.tune(maxCalls);
          return null;
        }),
    },
    control,
  );
  packets.on("message", (packet) => runner.receive(packet));
  post(packets, [ToHost.opened, threadId]);
  await retired;
  process.off("uncaughtExceptionMonitor", onUncaught);
  process.off("exit", onEnd);
}

function post(port: MessagePort, message: HostMessage & Message): void {
  postPacket(port, [message]);
}
