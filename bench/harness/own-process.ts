// OwnProcess: a side that is measured in a process of its own, as its users have it.
//
// Two sides in one process share one heap: what one keeps alive the other's collections copy, and what one has taught
// the compiler of a shared function slows the other down. The processes take turns, as the duel says.

import { fork } from "node:child_process";
import { once } from "node:events";

/** Which side of which question, and how long a sample is. "before": what fills the directory that both sides then open. */
export interface SideName {
  readonly question: string;
  readonly side: "ours" | "theirs" | "before";
  readonly effort: "full" | "quick";
  /** For questions about a directory that is there already. */
  readonly directory?: string;
}

type Answer<S> =
  | { readonly kind: "sample"; readonly sample: S }
  | { readonly kind: "failed"; readonly message: string };

export interface OwnProcess<S> {
  readonly sample: () => Promise<S>;
  readonly end: () => Promise<void>;
  /** Ends it as `kill -9` does. */
  readonly kill: () => Promise<void>;
}

const ENTRY = new URL("../side-process.js", import.meta.url);

export function openOwnProcess<S>(name: SideName): OwnProcess<S> {
  const child = fork(ENTRY, [JSON.stringify(name)], { serialization: "advanced" });
  const ended = once(child, "exit");
  return {
    async sample() {
      child.send("sample");
      const [answer] = (await Promise.race([once(child, "message"), ended])) as [Answer<S> | number | null];
      if (typeof answer !== "object" || answer === null)
        throw new Error(`The process of ${name.question} (${name.side}) ended with code ${String(answer)}.`);
      if (answer.kind === "failed") throw new Error(answer.message);
      return answer.sample;
    },
    async end() {
      if (child.connected) child.disconnect();
      await ended;
    },
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** A sample by a process that has done nothing before, as when a program starts. */
export async function sampleAfresh<S>(name: SideName): Promise<S> {
  const own = openOwnProcess<S>(name);
  try {
    return await own.sample();
  } finally {
    await own.end();
  }
}

/** The child's half: takes a sample whenever it is asked for one, until the parent is gone. */
export function serveSamples<S>(opened: Promise<() => Promise<S>>): void {
  opened.catch(() => {}); // the first request tells
  process.on("message", () => {
    void (async () => {
      let answer: Answer<S>;
      try {
        const take = await opened;
        answer = { kind: "sample", sample: await take() };
      } catch (error) {
        answer = {
          kind: "failed",
          message: error instanceof Error ? (error.stack ?? error.message) : String(error),
        };
      }
      process.send?.(answer);
    })();
  });
}
