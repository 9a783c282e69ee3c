// Opens the log of a partition and holds an iterator in it, until killed. Arguments: the partition's path. It is plain
// JavaScript on the built package, because hundreds of it are started; it opens as every reader has to (opening-guard.ts).
import { open } from "lmdb";
import { whileNoCommit } from "../../../../dist/kernel/store/lmdb/opening-guard.js";

const [path] = process.argv.slice(2);
const binary = { encoding: "binary", keyEncoding: "binary" };
const [root, log] = whileNoCommit(path, () => {
  const environment = open({ path, readOnly: true, maxDbs: 24, ...binary });
  return [environment, environment.openDB("log", binary)];
});
const iterator = log.getRange()[Symbol.iterator]();
if (iterator.next().done) throw new Error("the log is empty");
process.stdout.write(`holding\n`);
setInterval(() => [root, iterator], 1_000_000);
