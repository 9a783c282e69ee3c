// Mutations: bytes that nearly are what a decoder expects. Most of what is wrong with bytes on a disk or a wire is a small thing at one
// place, so seeds are good inputs, and what is done to them is small too.

import fc from "fast-check";

/** Bytes at which msgpack turns: lengths, kinds, the ends of ranges. */
const TELLING = Buffer.from("00017f808f909fa0bfc0c1c4c6c7cbcfd3d4d8d9dbdcdddedfe0ff", "hex");

interface Mutation {
  readonly kind: keyof typeof MUTATIONS;
  /** Modulo the length there is. */
  readonly at: number;
  readonly length: number;
  readonly byte: number;
  readonly other: Buffer;
}

const MUTATIONS = {
  flip: (bytes: Buffer, { at, length }: Mutation) =>
    withByte(bytes, at, (bytes[at] ?? 0) ^ (1 << (length % 8))),
  set: (bytes: Buffer, { at, byte }: Mutation) => withByte(bytes, at, byte),
  truncate: (bytes: Buffer, { at }: Mutation) => bytes.subarray(0, at),
  behead: (bytes: Buffer, { at }: Mutation) => bytes.subarray(at),
  remove: (bytes: Buffer, { at, length }: Mutation) =>
    Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]),
  duplicate: (bytes: Buffer, { at, length }: Mutation) =>
    Buffer.concat([bytes.subarray(0, at + length), bytes.subarray(at)]),
  splice: (bytes: Buffer, { at, length, byte, other }: Mutation) => {
    const from = byte % Math.max(other.length, 1);
    return Buffer.concat([bytes.subarray(0, at), other.subarray(from, from + length), bytes.subarray(at)]);
  },
  graft: (bytes: Buffer, { at, byte, other }: Mutation) =>
    Buffer.concat([bytes.subarray(0, at), other.subarray(byte % Math.max(other.length, 1))]),
};

function withByte(bytes: Buffer, at: number, byte: number): Buffer {
  const copy = Buffer.from(bytes);
  if (at < copy.length) copy[at] = byte;
  return copy;
}

/** One of the seeds, mutated once to four times. */
export function mutants(seeds: readonly Buffer[]): fc.Arbitrary<Buffer> {
  const seed = fc.constantFrom(...seeds);
  const mutation = fc.record<Mutation>({
    kind: fc.constantFrom(...(Object.keys(MUTATIONS) as (keyof typeof MUTATIONS)[])),
    at: fc.nat(0xffff),
    length: fc.integer({ min: 1, max: 16 }),
    byte: fc.oneof(fc.constantFrom(...TELLING), fc.nat(255)),
    other: seed,
  });
  return fc
    .tuple(seed, fc.array(mutation, { minLength: 1, maxLength: 4 }))
    .map(([start, mutations]) =>
      mutations.reduce(
        (bytes, one) => MUTATIONS[one.kind](bytes, { ...one, at: one.at % Math.max(bytes.length, 1) }),
        start,
      ),
    );
}
