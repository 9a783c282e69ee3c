// Server: a program that a system needs beside it. It ends with this process, however this process ends.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";

/** Gives a function that asks the server to end and waits until it has. */
export function startServer(command, args, { ending = "SIGTERM", ...options } = {}) {
  const child = spawn(command, args, { ...options, stdio: ["ignore", "ignore", "pipe"] });
  const printed = [];
  child.stderr.on("data", (chunk) => printed.push(chunk));
  const gone = once(child, "exit");
  const endNow = () => child.kill("SIGKILL");
  process.once("exit", endNow);
  return {
    /** Until `isReady` gives true. Throws what the server printed when it ends before that. */
    async ready(isReady) {
      for (const deadline = Date.now() + 30_000; ; ) {
        if (await isReady().catch(() => false)) return;
        const text = Buffer.concat(printed).toString().slice(-2_000);
        if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}: ${text}`);
        if (Date.now() > deadline) throw new Error(`${command} was not ready within 30 s: ${text}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    async end() {
      child.kill(ending);
      await gone;
      process.off("exit", endNow);
    },
  };
}

/** Of the loopback interface, and free a moment ago. */
export async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}
