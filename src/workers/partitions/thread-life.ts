// ThreadLife: one worker thread from its beginning to its end, and the two ports between it and the host.
//
// L1  It ends once. What the thread said before is heard first, also when it died.
// L2  A thread keeps the host alive as long as it lives, as open work does; nothing else here does.

import type { ResourceLimits } from "node:worker_threads";
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import { ControlLine } from "../control-line.js";
import type { Packet } from "../packets/index.js";
import type { PartitionControl } from "./control.js";
import { Outbox } from "./outbox.js";
import type { ThreadMessage } from "./protocol.js";
import type { ThreadSettings, ThreadSetup } from "./setup.js";

export interface ThreadPlan {
  /** Shown by debuggers and in profiles. */
  readonly name: string;
  readonly entry: URL;
  readonly resourceLimits: ResourceLimits;
  /** How long the app's module may take to load. */
  readonly loadTimeoutMs: number;
  readonly settings: Omit<ThreadSettings, "caution">;
}

/** How a thread ended. */
export interface ThreadEnd {
  readonly exitCode: number;
  /** What it died of, if it said so. */
  readonly error: unknown;
  /** Nobody ended it by force. */
  readonly isByItself: boolean;
}

export class ThreadLife {
  readonly control: ControlLine<PartitionControl>;
  readonly outbox: Outbox<ThreadMessage>;
  readonly ended: Promise<ThreadEnd>;
  readonly bornAt = performance.now();
  readonly #worker: Worker;
  readonly #port: MessagePort;
  #isForced = false;

  /** `lost` makes the error that questions still open at the end are answered with. */
  constructor(
    plan: ThreadPlan,
    caution: ThreadSettings["caution"],
    hear: (packet: Packet) => void,
    lost: (end: ThreadEnd) => Error,
  ) {
    const packets = new MessageChannel();
    const control = new MessageChannel();
    const setup: ThreadSetup = { ...plan.settings, caution, packets: packets.port2, control: control.port2 };
    this.#worker = new Worker(plan.entry, {
      name: plan.name,
      workerData: setup,
      transferList: [packets.port2, control.port2],
      resourceLimits: plan.resourceLimits,
    });
    this.#port = packets.port1;
    this.#port.on("message", hear);
    this.#port.unref(); // L2
    this.control = new ControlLine(control.port1);
    this.outbox = new Outbox(this.#port);
    this.ended = new Promise((resolve) => {
      let error: unknown;
      this.#worker.once("error", (thrown) => {
        error = thrown;
      });
      this.#worker.once("exit", (exitCode) => {
        this.#hearTheRest(hear); // L1
        const end = { exitCode, error, isByItself: !this.#isForced };
        void this.control.close(lost(end));
        resolve(end);
      });
    });
  }

  /** Ends it by force, if it has not ended. */
  async end(): Promise<void> {
    this.#isForced = true;
    await this.#worker.terminate();
    await this.ended;
  }

  /** The part of its life its event loop was busy. */
  get utilisation(): number {
    return this.#worker.performance.eventLoopUtilization().utilization;
  }

  #hearTheRest(hear: (packet: Packet) => void): void {
    for (;;) {
      const received: { readonly message: Packet } | undefined = receiveMessageOnPort(this.#port);
      if (!received) break;
      hear(received.message);
    }
    this.#port.close();
  }
}
