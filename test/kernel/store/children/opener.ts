// Opens a directory for reading again and again, until it is ended. Prints a line for every hundred openings.
// Argument: the directory.
import { setImmediate as nextTurn } from "node:timers/promises";
import { LmdbEventStore } from "../../../../src/kernel/store/index.js";

const [dir = ""] = process.argv.slice(2);
const store = new LmdbEventStore({ dir, now: Date.now, createdBy: "heddle test", create: false });
for (let openings = 1; ; openings++) {
  await store.find("execution-0");
  if (openings % 100 === 0) process.stdout.write(`${openings}\n`);
  // An environment opened for reading is open for one turn; two later the next call opens it anew.
  await nextTurn();
  await nextTurn();
}
