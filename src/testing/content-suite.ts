// The conformance suite of content stores: what claim checks rely on, whatever keeps the bytes.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type Wire } from "../kernel/codec/index.js";
import type { ExecutionEvent } from "../kernel/events.js";
import type { ContentStore } from "../kernel/store/content/content-store.js";
import type { SuiteRunner } from "./store-cases/bench.js";

export interface ContentUnderTest {
  readonly content: ContentStore;
  /** Records events in the log of an execution, as a pass would. */
  readonly record: (executionId: string, events: readonly ExecutionEvent[]) => Promise<void>;
  /** Moves the time of the store on. */
  readonly pass: (milliseconds: number) => void;
  readonly dispose: () => Promise<void>;
}

export interface ContentStoreSuiteOptions extends SuiteRunner {
  readonly name: string;
  readonly open: () => Promise<ContentUnderTest>;
}

const NEVER_PUT = `sha256:${"0".repeat(64)}`;

export function contentStoreSuite({ name, describe, it, open }: ContentStoreSuiteOptions): void {
  const test = (title: string, run: (bench: ContentUnderTest) => Promise<void>): void =>
    it(title, async () => {
      const bench = await open();
      try {
        await run(bench);
      } finally {
        await bench.dispose();
      }
    });
  describe(`${name}: content store`, () => {
    describe("putting and getting", () => puttingTests(test));
    describe("streams", () => streamTests(test));
    describe("references", () => referenceTests(test));
    describe("sweeps", () => sweepTests(test));
  });
}

type Test = (title: string, run: (bench: ContentUnderTest) => Promise<void>) => void;

function puttingTests(test: Test): void {
  for (const size of [0, 1, 65_520, 65_521, 1_048_320, 3_000_000]) {
    test(`gives back ${size} bytes under the hash of them`, async ({ content }) => {
      const bytes = patternOf(size);
      const stored = await content.put(bytes);
      assert.deepEqual(stored, { ref: addressOf(bytes), size });
      assert.ok(bytes.equals((await content.get(stored.ref)) ?? Buffer.of(1)));
      assert.ok(bytes.equals(await collect(await content.stream(stored.ref))));
    });
  }

  test("keeps text as UTF-8", async ({ content }) => {
    const { ref, size } = await content.put("größer");
    assert.equal(size, 8);
    assert.equal(Buffer.from((await content.get(ref)) ?? []).toString(), "größer");
  });

  test("gives the same address to the same bytes, however they came and in whatever order", async ({
    content,
  }) => {
    const bytes = patternOf(2_000_000);
    const [whole, again, streamed] = await Promise.all([
      content.put(bytes),
      content.put(bytes),
      content.put(piecesOf(bytes, 77_777), { executionId: "a" }),
    ]);
    assert.deepEqual(again, whole);
    assert.deepEqual(streamed, whole);
    assert.ok(bytes.equals((await content.get(whole.ref)) ?? Buffer.of()));
  });

  test("keeps what it was given, whatever happens to the bytes later", async ({ content }) => {
    const bytes = patternOf(100);
    const { ref } = await content.put(bytes);
    bytes.fill(0);
    const read = await content.get(ref);
    read?.fill(1);
    assert.ok(patternOf(100).equals((await content.get(ref)) ?? Buffer.of()));
  });

  test("has nothing under an address that was never put, and under what is none", async ({ content }) => {
    for (const ref of [NEVER_PUT, "", "sha256:xyz", "../../etc/passwd", `${NEVER_PUT}0`]) {
      assert.equal(await content.get(ref), null);
      assert.equal(await content.stream(ref), null);
      assert.equal(await content.has(ref), false);
      assert.equal(await content.delete(ref), false);
      assert.deepEqual(await content.references(ref), { executions: 0, isPinned: false });
    }
  });
}

function streamTests(test: Test): void {
  test("fails with what a stream fails with, and keeps nothing of it", async ({ content }) => {
    const bytes = patternOf(3_000_000);
    const broken = async function* (): AsyncGenerator<Uint8Array> {
      yield* piecesOf(bytes, 50_000);
      throw new Error("the pipe broke");
    };
    await assert.rejects(content.put(broken()), /the pipe broke/);
    assert.equal(await content.has(addressOf(bytes)), false);
  });

  test("keeps text as it is wherever it was cut", async ({ content }) => {
    const text = "cut \u{1f600} in \u{1f600} half";
    const { ref } = await content.put(piecesOfText(text, 1));
    assert.equal(ref, addressOf(Buffer.from(text)));
    const mixed = (async function* () {
      yield "\ud83d";
      yield Buffer.from("-");
      yield "\ud83d";
    })();
    assert.equal((await content.put(mixed)).ref, addressOf(Buffer.from("\ufffd-\ufffd")));
  });

  test("refuses a stream of objects, typed", async ({ content }) => {
    const objects = (async function* () {
      yield { row: 1 } as unknown as Uint8Array;
    })();
    await assert.rejects(content.put(objects), { code: "VALUE_NOT_RECORDABLE" });
    for (const source of [undefined, 3, {}, new ArrayBuffer(3)])
      await assert.rejects(content.put(source as never), { code: "VALUE_NOT_RECORDABLE" });
  });

  test("reads on what was put again, and says so when what it reads is deleted", async ({ content }) => {
    const { ref } = await content.put(patternOf(3_000_000));
    const stream = await content.stream(ref);
    const reader = stream![Symbol.asyncIterator]();
    assert.equal((await reader.next()).done, false);
    assert.equal(await content.delete(ref), true);
    await assert.rejects(
      async () => {
        while (!(await reader.next()).done);
      },
      { code: "CONTENT_MISSING" },
    );
  });
}

function referenceTests(test: Test): void {
  test("counts the executions that mention an address", async ({ content, record }) => {
    const { ref } = await content.put("evidence");
    await record("a", [completed(envelope(ref))]);
    assert.deepEqual(await content.references(ref), { executions: 1, isPinned: false });
    await record("a", [completed({ again: ref })]);
    await record("b", [{ type: "EXECUTION_COMPLETED", output: [ref] }]);
    assert.deepEqual(await content.references(ref), { executions: 2, isPinned: false });
  });

  test("does not delete what an envelope retains, and goes on retaining it when it is mentioned again", async ({
    content,
    record,
  }) => {
    const { ref } = await content.put("kept");
    await record("a", [completed({ ...envelope(ref), retain: true })]);
    await record("a", [{ type: "EXECUTION_COMPLETED", output: ref }]);
    assert.deepEqual(await content.references(ref), { executions: 1, isPinned: true });
    assert.equal(await content.delete(ref), false);
    assert.equal(await content.has(ref), true);
  });

  test("does not delete what an event cites that a program emitted", async ({ content, record }) => {
    const { ref } = await content.put("finding");
    await record("a", [{ type: "DOMAIN_EVENT", name: "Finding", payload: { evidence: ref } }]);
    assert.equal(await content.delete(ref), false);
  });

  test("deletes what is mentioned only", async ({ content, record }) => {
    const { ref } = await content.put("telemetry");
    await record("a", [completed(envelope(ref))]);
    assert.equal(await content.delete(ref), true);
    assert.equal(await content.get(ref), null);
    assert.equal(await content.delete(ref), false);
  });
}

function sweepTests(test: Test): void {
  const hour = 3_600_000;

  test("takes what is old enough and not pinned", async ({ content, record, pass }) => {
    const loose = await content.put(patternOf(2_000_000));
    const cited = await content.put("cited");
    const pinned = await content.put("pinned");
    await record("a", [completed(envelope(cited.ref)), completed({ ...envelope(pinned.ref), retain: true })]);
    assert.deepEqual(await content.sweep({ olderThanMs: hour }), { removed: 0, bytes: 0 });
    pass(hour);
    const young = await content.put("young");
    assert.deepEqual(await content.sweep({ olderThanMs: hour, uncitedOnly: true }), {
      removed: 1,
      bytes: 2_000_000,
    });
    assert.deepEqual(await content.sweep({ olderThanMs: hour }), { removed: 1, bytes: 5 });
    const left = await Promise.all([loose, cited, pinned, young].map(({ ref }) => content.has(ref)));
    assert.deepEqual(left, [false, false, true, true]);
  });

  test("counts the age from when the same bytes were put last", async ({ content, pass }) => {
    const { ref } = await content.put("again");
    pass(hour);
    await content.put("again");
    await content.sweep({ olderThanMs: hour });
    assert.equal(await content.has(ref), true);
  });

  test("refuses an age that is none", async ({ content }) => {
    for (const olderThanMs of [-1, Number.NaN, "1" as unknown as number])
      await assert.rejects(content.sweep({ olderThanMs }), { code: "INPUT_INVALID" });
  });
}

function envelope(ref: string): { readonly [key: string]: Wire } {
  return { __loomClaimCheck: true, ref, size: 1 };
}

function completed(output: Wire): ExecutionEvent {
  return { type: "STEP_COMPLETED", stepId: "s", output };
}

/** Bytes in which every chunk is different. */
function patternOf(size: number): Buffer {
  const bytes = Buffer.alloc(size);
  for (let i = 0; i < size; i++) bytes[i] = (i * 31 + (i >>> 12)) & 0xff;
  return bytes;
}

async function* piecesOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

async function* piecesOfText(text: string, size: number): AsyncGenerator<string> {
  for (let start = 0; start < text.length; start += size) yield text.slice(start, start + size);
}

function addressOf(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

async function collect(stream: AsyncIterable<Uint8Array> | null): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of stream ?? []) pieces.push(piece);
  return Buffer.concat(pieces);
}
