// Packets: what crosses between two threads. A packet is a list of messages, each a list that starts with its kind.
//
// K1  A packet has memory of its own, exactly as much as it needs: nothing of a caller is detached, and no pool that a small
//     Buffer lies in is dragged along (C-EFF-04). A large one is handed over, not copied. A small one is text, a character a
//     byte: that is copied sooner than memory outside the heap is made and handed over.
// K2  What a packet carries are wires: the same table of values as in the log, refused by the same names.

import type { MessagePort } from "node:worker_threads";
import { packRecord, unpackRecord, type Wire } from "../../kernel/codec/index.js";
import { invariant } from "../../kernel/errors.js";

/** Told to the other side when a thread is opened: both must be of one build of these packets. */
export const PACKET_FORMAT = 3;

/** A kind and its fields. */
export type Message = readonly [kind: number, ...fields: Wire[]];

export type Packet = ArrayBuffer | string;

const SMALL_BYTES = 1_024;

export function packPacket(messages: readonly Message[]): Packet {
  const bytes = packRecord(messages);
  if (bytes.length > SMALL_BYTES) return new Uint8Array(bytes).buffer; // K1
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}

/** Packs and posts. Returns how many bytes that were. */
export function postPacket(port: MessagePort, messages: readonly Message[]): number {
  const packet = packPacket(messages);
  const bytes = packetBytes(packet); // before it is gone
  if (typeof packet === "string") port.postMessage(packet);
  else port.postMessage(packet, [packet]);
  return bytes;
}

export function packetBytes(packet: Packet): number {
  return typeof packet === "string" ? packet.length : packet.byteLength;
}

export function unpackPacket(packet: unknown): readonly Message[] {
  const messages = unpackRecord(bytesOf(packet));
  invariant(Array.isArray(messages) && messages.every(isMessage), "K2", "a packet holds no messages");
  return messages;
}

function bytesOf(packet: unknown): Uint8Array {
  if (typeof packet === "string") return Buffer.from(packet, "latin1");
  invariant(packet instanceof ArrayBuffer, "K1", "a message between threads is no packet");
  return new Uint8Array(packet);
}

function isMessage(value: unknown): value is Message {
  return Array.isArray(value) && typeof value[0] === "number";
}
