// The seam between the runtime's doors and wherever partitions run: in the caller's thread, or in threads of their own.

import type { ExecutionState } from "../kernel/index.js";
import type { StartRequest } from "./intake.js";
import type { Message, Reply } from "./messages.js";
import type { PartitionLoad } from "./partition.js";
import type { Awaited } from "./watchers.js";

/** What somebody outside may send to an execution. */
export type Command = Extract<Message, { readonly reply: Reply<void> }>;

/** What the runtime needs of a partition. Requests are answered through their replies, never by throwing. */
export interface PartitionDoor {
  start(request: StartRequest): void;
  send(executionId: string, command: Command): void;
  /** Resolves when the execution gets there, as far as it is durable. */
  watch(executionId: string, awaited: Awaited): Promise<ExecutionState>;
  /** Resolves with the output of the flow. */
  result(executionId: string): Promise<unknown>;
  state(executionId: string): Promise<ExecutionState>;
  /** The id of its flow; undefined when there is no such execution. */
  flowOf(executionId: string): Promise<string | undefined>;
}

export interface PartitionHost {
  /** Opens every partition; their doors in the order of their numbers. After a failure nothing is left open, and it may be tried again. */
  open(): Promise<readonly PartitionDoor[]>;
  /** A flow was registered after the opening. Throws when the partitions cannot run it. */
  flowRegistered(): void;
  /** What is in memory and what waits, where the partitions run in this thread. */
  readonly load?: PartitionLoad;
  /** Resolves in any case, also while `open` is under way. Steps in flight get `deadlineMs`. */
  close(deadlineMs: number): Promise<void>;
}
