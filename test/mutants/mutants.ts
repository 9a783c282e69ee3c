// The mutants: rules without which something is lost, doubled or invented when a process dies. One of each kind, broken where it is kept.

import type { Mutant } from "./mutant.js";

export const MUTANTS: readonly Mutant[] = [
  {
    name: "flush-not-awaited",
    rule: "with sync: flush, a write is durable when it is on the disk, not when it is visible",
    file: "src/kernel/store/lmdb/writer.ts",
    search: "    await flushed;\n",
    replacement: "    void flushed;\n",
    noticedBy: ["test/kernel/store/lmdb-durability.test.ts"],
  },
  {
    name: "dispatch-before-durable",
    rule: "no effect begins whose request is not durable",
    file: "src/actors/partition.ts",
    search: "    this.#observer.appended(moves);\n",
    replacement:
      "    this.#observer.appended(moves);\n" +
      "    for (const { dispatches } of moves)\n" +
      "      for (const attempt of (dispatches as InFlight[]).splice(0)) this.#backlog.offer(attempt);\n",
    noticedBy: ["test/actors/partition.test.ts", "test/sim/seeds.test.ts"],
  },
  {
    name: "answer-before-commit",
    rule: "nobody is told that something is done before that is durable",
    file: "src/actors/partition.ts",
    search: "    this.#observer.appended(moves);\n",
    replacement:
      "    this.#observer.appended(moves);\n" +
      "    for (const { replies } of moves) for (const reply of replies) reply.resolve();\n",
    noticedBy: ["test/actors/durable-answers.test.ts", "test/sim/seeds.test.ts"],
  },
  {
    name: "failed-commit-kept",
    rule: "after a failed commit nothing goes on from what is in memory: it is ahead of the log",
    file: "src/actors/partition.ts",
    search: "    this.#dropEverything(error);\n    if (closing)",
    replacement: "    if (closing)",
    noticedBy: ["test/lifecycle/failing-commits.test.ts"],
  },
  {
    name: "two-owners",
    rule: "a partition has one owner at a time",
    file: "src/kernel/store/lmdb/ownership.ts",
    search: "    if (!tryLock(fd, LOCKED_BYTE, 1)) throw new PartitionLockedError(path, ownerOf(path));\n",
    replacement: "    tryLock(fd, LOCKED_BYTE, 1);\n",
    noticedBy: ["test/kernel/store/lmdb-ownership.test.ts"],
  },
  {
    name: "epoch-used-again",
    rule: "each owner has an epoch higher than all before it",
    file: "src/kernel/store/lmdb/owner-row.ts",
    search: "(readOwnerRow(tables)?.epoch ?? 0) + 1)",
    replacement: "readOwnerRow(tables)?.epoch ?? 1)",
    noticedBy: ["test/conformance/lmdb-event-store.test.ts"],
  },
  {
    name: "outcomes-out-of-order",
    rule: "a replay delivers recorded outcomes one at a time, in the order of the log",
    file: "src/kernel/flow-run.ts",
    search: "    this.#settle(recorded);\n    return true;\n",
    replacement:
      "    const second = this.#nextRecorded();\n" +
      "    if (second && isOutcome(second) && this.#awaits(second)) {\n" +
      "      this.#recording.accept();\n" +
      "      this.#settle(second);\n" +
      "    }\n" +
      "    this.#settle(recorded);\n    return true;\n",
    noticedBy: ["test/replay/parallel.test.ts"],
  },
  {
    name: "input-not-compared",
    rule: "a replay that asks for a step with another input is a divergence",
    file: "src/kernel/request.ts",
    search: 'STEP_STARTED: ["stepId", "kind", "input", "shielded"]',
    replacement: 'STEP_STARTED: ["stepId", "kind", "shielded"]',
    noticedBy: ["test/replay/diverged.test.ts"],
  },
  {
    name: "timer-forgotten",
    rule: "timers that were set before a restart fire after it",
    file: "src/actors/partition.ts",
    search: "    await this.#timers.start();\n",
    replacement: "",
    noticedBy: ["test/actors/timers.test.ts"],
  },
  {
    name: "attempt-counted-twice",
    rule: "a failed attempt is one failure to the step's policy, also after a restart",
    file: "src/kernel/issued-steps.ts",
    search: 'if (retry.reason === "failed") step.failures++;',
    replacement: 'if (retry.reason === "failed") step.failures += 2;',
    noticedBy: ["test/actors/retry.test.ts"],
  },
  {
    name: "key-of-the-attempt",
    rule: "every attempt at a request is given the same idempotency key",
    file: "src/actors/in-flight.ts",
    search: "idempotencyKeyOf(this.executionId, this.#step.stepId, this.#step.issue)",
    replacement: "idempotencyKeyOf(this.executionId, this.#step.stepId, this.#step.issue + this.attempt - 1)",
    noticedBy: ["test/actors/retry.test.ts", "test/crash/matrix.test.ts"],
  },
  {
    name: "doubt-ignored",
    rule: "what may not be repeated does not run again after a crash",
    file: "src/actors/attempts.ts",
    search: 'if (this.#owner.mayRepeat(step.task)) this.repeat(step, "recovered", now);\n      else',
    replacement: 'this.repeat(step, "recovered", now);\n      if (step.inDoubt)',
    noticedBy: ["test/actors/in-doubt.test.ts"],
  },
  {
    name: "neighbour-run-again",
    rule: "what may not be repeated does not run again when a neighbour takes its thread down",
    file: "src/workers/pool/verdict.ts",
    search: "request.mayRepeat !== false;",
    replacement: "request !== undefined;",
    noticedBy: ["test/conformance/effect-pool.test.ts"],
  },
  {
    name: "repeated-answer-counts",
    rule: "an answer that is sent again, with the same request id, counts once",
    file: "src/actors/actor.ts",
    search: "run && !this.#answers?.isRepeat(request) ? chooseGate(",
    replacement: "run ? chooseGate(",
    noticedBy: ["test/actors/gates.test.ts"],
  },
  {
    name: "approval-of-another-call",
    rule: "an approval that names another call lets nothing run",
    file: "src/agent/tools/approvals.ts",
    search: 'return call === undefined || call === key ? { answer: parsed.data } : { fault: "otherCall" };',
    replacement: "void [call, key];\n  return { answer: parsed.data };",
    noticedBy: ["test/agent/approvals.test.ts"],
  },
  {
    name: "approval-of-other-arguments",
    rule: "an approval is for a call with these very arguments: its key holds their digest",
    file: "src/agent/tools/ask-people.ts",
    search: "sha256(JSON.stringify([name, input]))",
    replacement: "sha256(JSON.stringify([name, input === undefined]))",
    noticedBy: ["test/agent/approvals.test.ts"],
  },
  {
    name: "kind-not-folded",
    rule: "the state is the fold of every kind of event there is",
    file: "src/kernel/fold.ts",
    search: "  applyKind(event.type, state, event, at);\n",
    replacement: '  if (event.type !== "OUTCOME_LATE") applyKind(event.type, state, event, at);\n',
    noticedBy: ["test/kernel/fold.test.ts"],
  },
  {
    name: "hole-accepted",
    rule: "a log that lacks a position is damaged, and nothing is read from it",
    file: "src/kernel/store/rows.ts",
    search: "    if (sequence > next) {",
    replacement: "    if (sequence > next + 1) {",
    noticedBy: ["test/replay/damaged.test.ts"],
  },
  {
    name: "budget-given-back-twice",
    rule: "a call that was counted and is not made is given back to its budget once",
    file: "src/effects/quota/tally.ts",
    search: "if (startedAt >= this.windowStart) this.#begun--;",
    replacement: "if (startedAt >= this.windowStart) this.#begun -= 2;",
    noticedBy: ["test/effects/quota/tally.test.ts"],
  },
];
