// Puts content that never ends, beside content that does, and says how many megabytes of it were given. Argument: directory.
import { LmdbEventStore } from "../../../../src/kernel/store/index.js";

const [dir = ""] = process.argv.slice(2);
const store = new LmdbEventStore({ dir, sync: "commit", now: Date.now, createdBy: "heddle test" });
await store.open(0);
const { ref } = await store.content.put(Buffer.alloc(3_000_000, "whole"));
process.stdout.write(`${ref}\n`);
async function* endless(): AsyncGenerator<Uint8Array> {
  for (let megabytes = 1; ; megabytes++) {
    yield Buffer.alloc(1024 * 1024, megabytes);
    process.stdout.write(`${megabytes}\n`);
  }
}
await store.content.put(endless());
