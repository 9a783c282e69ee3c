// Packets: what crosses between two threads. A packet is a list of messages, each a list that starts with its kind.
//
// K1  A packet has memory of its own, exactly as much as it needs, and is handed over, not copied: nothing of a caller is
//     detached, and no pool that a small Buffer lies in is dragged along (C-EFF-04).
// K2  What a packet carries are wires: the same table of values as in the log, refused by the same names.

import { packRecord, unpackRecord, type Wire } from "../../kernel/codec/index.js";
import { invariant } from "../../kernel/errors.js";

/** Told to the other side when a thread is opened: both must be of one build of these packets. */
export const PACKET_FORMAT = 1;

/** A kind and its fields. */
export type Message = readonly [kind: number, ...fields: Wire[]];

export function packPacket(messages: readonly Message[]): ArrayBuffer {
  return new Uint8Array(packRecord(messages)).buffer; // K1
}

export function unpackPacket(packet: unknown): readonly Message[] {
  invariant(packet instanceof ArrayBuffer, "K1", "a message between threads is no packet");
  const messages = unpackRecord(new Uint8Array(packet));
  invariant(Array.isArray(messages) && messages.every(isMessage), "K2", "a packet holds no messages");
  return messages;
}

function isMessage(value: unknown): value is Message {
  return Array.isArray(value) && typeof value[0] === "number";
}
