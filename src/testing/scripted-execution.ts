// ScriptedExecution: writes the commits a partition loop would write for one execution, keeping its header in step.

import { toWire } from "../kernel/codec/index.js";
import type { ExecutionEvent } from "../kernel/events.js";
import type { FiledStatus } from "../kernel/status.js";
import type { ExecutionCommit, ExecutionHeader, SetAside, TimerRow } from "../kernel/store/spi.js";

export interface ScriptedChange {
  readonly status?: FiledStatus;
  readonly aside?: SetAside;
  readonly arm?: readonly TimerRow[];
  readonly disarm?: readonly TimerRow[];
}

export class ScriptedExecution {
  readonly id: string;
  readonly key: number;
  readonly flowId: string;
  #header: ExecutionHeader | undefined;
  #next = 0;
  #timestamp = 1_700_000_000_000;

  constructor(key: number, id = `execution-${key}`, flowId = "flow") {
    this.key = key;
    this.id = id;
    this.flowId = flowId;
  }

  /** The header as it stands in the store once every commit so far is written. */
  get header(): ExecutionHeader {
    if (!this.#header) throw new Error(`${this.id} has no commit yet`);
    return this.#header;
  }

  /** How many events there are. */
  get length(): number {
    return this.#next;
  }

  start(input: unknown = {}, change: ScriptedChange = {}): ExecutionCommit {
    const { flowId } = this;
    return this.append(
      [
        {
          type: "EXECUTION_STARTED",
          flowId,
          flowVersion: "1",
          input: toWire(input),
          flags: [],
          principal: undefined,
        },
      ],
      change,
    );
  }

  /** One pass of `count` domain events; their payloads are their positions. */
  advance(count = 1, change: ScriptedChange = {}): ExecutionCommit {
    const events = Array.from({ length: count }, (_, index) =>
      domainEvent("moved", { at: this.#next + index }),
    );
    return this.append(events, change);
  }

  complete(output: unknown = null): ExecutionCommit {
    return this.append([{ type: "EXECUTION_COMPLETED", output: toWire(output) }], { status: "completed" });
  }

  append(events: readonly ExecutionEvent[], change: ScriptedChange = {}): ExecutionCommit {
    const { arm = [], disarm = [], aside } = change;
    const before = this.#header;
    const status = change.status ?? before?.status ?? "running";
    const timestamp = ++this.#timestamp;
    const sequence = this.#next;
    this.#next += events.length;
    const refile = before?.status === status ? undefined : { from: before?.status };
    if (refile) {
      this.#header = {
        key: this.key,
        id: this.id,
        flowId: this.flowId,
        flowVersion: "1",
        status,
        sequence: this.#next - 1,
        createdAt: before?.createdAt ?? timestamp,
        updatedAt: timestamp,
        aside,
      };
    }
    const record = events.length > 0 ? { sequence, timestamp, events } : undefined;
    return { header: this.header, created: before === undefined, refile, record, arm, disarm };
  }
}

export function domainEvent(name: string, payload: unknown): ExecutionEvent {
  return { type: "DOMAIN_EVENT", name, payload: toWire(payload) };
}
