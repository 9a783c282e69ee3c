// Opens the log of a partition and holds an iterator in it, until killed. Arguments: the partition's path.
import { open } from "lmdb";

const [path] = process.argv.slice(2);
const binary = { encoding: "binary", keyEncoding: "binary" };
const root = open({ path, readOnly: true, maxDbs: 24, ...binary });
const iterator = root.openDB("log", binary).getRange()[Symbol.iterator]();
if (iterator.next().done) throw new Error("the log is empty");
process.stdout.write(`holding\n`);
setInterval(() => iterator, 1_000_000);
