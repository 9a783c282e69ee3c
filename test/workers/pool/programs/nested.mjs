// Pools inside worker threads: one that is closed in order, and one whose thread is terminated while it is at work.

import { once } from "node:events";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { callOf, open } from "./pool.mjs";

if (isMainThread) {
  const orderly = new Worker(new URL(import.meta.url), { workerData: "orderly" });
  const [answer] = await once(orderly, "message");
  process.stdout.write(`inner ${answer}\n`);
  await once(orderly, "exit");
  const cut = new Worker(new URL(import.meta.url), { workerData: "cut" });
  await once(cut, "message");
  await cut.terminate();
  process.stdout.write("terminated\n");
  const pool = await open();
  process.stdout.write(`outer ${await pool.call(callOf("echo", 42))}\n`);
  await pool.close();
} else {
  const pool = await open();
  parentPort.postMessage(await pool.call(callOf("echo", 42)));
  if (workerData === "orderly") await pool.close();
  else await pool.call(callOf("deaf", {}));
}
