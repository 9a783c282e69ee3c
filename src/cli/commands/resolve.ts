// heddle resolve: a verdict on a step in doubt, in a directory that no process owns. The only command that writes.
//
// E1  It owns the partition while it writes, as an application would. Where it cannot, nothing is changed.
// E2  What it writes is what a running application would write, through the same commit (verdictCommit).
// E3  An id is taken as it was typed: the beginning of one is not enough to decide about it.

import { type InDoubtVerdict, readVerdict, type Verdict, verdictCommit } from "../../actors/index.js";
import { CREATED_BY } from "../../app/storage.js";
import { VALUE_LIMITS } from "../../kernel/codec/index.js";
import { HeddleError, PartitionLockedError } from "../../kernel/errors.js";
import { isTerminal } from "../../kernel/status.js";
import { LmdbEventStore } from "../../kernel/store/index.js";
import type { ExecutionPlace, LogInspector } from "../../kernel/store/lmdb/log-inspector.js";
import type { Owner } from "../../kernel/store/spi.js";
import { type Doubt, type ReadDoubts, readDoubts } from "../doubts.js";
import { CommandFailure, type ExitCode } from "../failure.js";
import { findExecution } from "../find-execution.js";
import { openLog } from "../open-log.js";
import { jsonLine } from "../render/json.js";
import { printable } from "../render/text.js";
import { unreadableWords } from "../render/timeline.js";
import type { Terminal } from "../terminal.js";

export interface ResolveOptions {
  readonly db: string;
  /** One of these three. */
  readonly outcome?: { readonly value: unknown };
  readonly fail?: string;
  readonly retry?: boolean;
  readonly json?: boolean;
}

export async function resolve(
  terminal: Terminal,
  id: string,
  stepId: string,
  options: ResolveOptions,
): Promise<ExitCode> {
  const choice = choose(options);
  const verdict = readVerdict(choice.verdict, VALUE_LIMITS);
  const log = openLog(options.db);
  const place = await findExactly(log, id);
  const read = await readDoubts(log, place, terminal.signal);
  if (terminal.signal.aborted) return 1;
  const doubt = read.doubts.find((each) => each.stepId === stepId);
  if (!doubt) throw notInDoubt(log, place, stepId, read);
  const sequence = await write(log, place, stepId, verdict).catch((error: unknown) => {
    throw error instanceof PartitionLockedError ? owned(error, doubt, choice) : error;
  });
  const { executionId, attempt } = doubt;
  if (options.json) {
    await terminal.print([jsonLine({ executionId, stepId, verdict: verdict.kind, sequence })]);
    return 0;
  }
  const words = {
    outcome: "has completed",
    fail: "has failed",
    retry: `runs again, in attempt ${attempt + 1}`,
  };
  await terminal.print([printable(`${executionId}  ${stepId}  ${words[verdict.kind]}`)]);
  terminal.note("Recorded. The execution goes on from there when its application opens the directory next.");
  if (verdict.kind === "outcome")
    terminal.note(
      "Not checked: whether the outcome fits the step's outputSchema, which the flow's code alone knows; nor is anything sealed that it marks.",
    );
  return 0;
}

/** A verdict, and how a program would write it. */
interface Choice {
  readonly verdict: InDoubtVerdict;
  readonly code: string;
}

function choose({ outcome, fail, retry }: ResolveOptions): Choice {
  if (outcome) {
    const { value } = outcome;
    return { verdict: { outcome: value }, code: `{ outcome: ${JSON.stringify(value)} }` };
  }
  if (fail !== undefined)
    return { verdict: { fail: failureOf(fail) }, code: `{ fail: new Error(${JSON.stringify(fail)}) }` };
  if (retry) return { verdict: { retry: true }, code: "{ retry: true }" };
  throw new CommandFailure(
    2,
    "What became of the step? Give one of --outcome JSON (it did its work), --fail MESSAGE (it did not, and is not to be " +
      "tried again) and --retry (it did not, and runs again).",
  );
}

/** Without a stack: it would be that of this command. */
function failureOf(message: string): Error {
  const error = new Error(message);
  delete error.stack;
  return error;
}

/** E3 */
async function findExactly(log: LogInspector, id: string): Promise<ExecutionPlace> {
  const place = await findExecution(log, id);
  if (place.id === id) return place;
  throw new CommandFailure(
    1,
    `No execution has the id ${id}. Did you mean\n  ${place.id}`,
    "EXECUTION_UNKNOWN",
  );
}

/** E1, E2. Returns the sequence of the event. */
async function write(
  log: LogInspector,
  place: ExecutionPlace,
  stepId: string,
  verdict: Verdict,
): Promise<number> {
  const store = new LmdbEventStore({
    dir: log.directory,
    create: false,
    now: Date.now,
    createdBy: CREATED_BY,
  });
  try {
    const partition = await store.open(place.partition);
    // Looked at again: until now somebody else may have written.
    const [header] = await partition.lookup([place.id]);
    const [records] = await partition.load([place.key]);
    if (header instanceof HeddleError) throw header;
    if (records instanceof HeddleError) throw records;
    if (!header || !records)
      throw new HeddleError("EXECUTION_UNKNOWN", `${place.id} is not in the log any more.`);
    const commit = verdictCommit({ header, records, stepId, verdict, now: Date.now() });
    await partition.commit({ executions: [commit] });
    return commit.header.sequence;
  } finally {
    await store.close();
  }
}

function owned(
  error: PartitionLockedError,
  { executionId, stepId }: Doubt,
  { code }: Choice,
): CommandFailure {
  const { directory, owner } = error.details as Readonly<{ directory: string; owner?: Owner }>;
  const who = owner ? `process ${owner.pid} on ${owner.host}` : "another process";
  const call = `app.runtime.resolveInDoubt(${JSON.stringify(executionId)}, ${JSON.stringify(stepId)}, ${code})`;
  const lines = [
    `${directory} is owned by ${who}, which runs this execution. Nothing was changed.`,
    "Give the verdict there:",
    `  await ${call}`,
    "or stop that process, and then come back.",
  ];
  return new CommandFailure(1, lines.join("\n"), error.code);
}

function notInDoubt(
  log: LogInspector,
  { id }: ExecutionPlace,
  stepId: string,
  { state, doubts, unreadable }: ReadDoubts,
): CommandFailure {
  if (unreadable) return new CommandFailure(1, `${id}: ${unreadableWords(unreadable)}`, "RECORD_UNREADABLE");
  if (isTerminal(state.status))
    return new CommandFailure(
      1,
      `Execution ${id} has ended (${state.status}): nothing of it is in doubt.`,
      "EXECUTION_ENDED",
    );
  const frame = state.frames[stepId];
  const standing = {
    started:
      "has no outcome yet. Whether it is in doubt is found when the application opens the directory next",
    completed: "has completed",
    failed: "has failed",
    inDoubt: "is in doubt",
    cancelled: "was cancelled",
  };
  const what = frame
    ? `Step ${stepId} of ${id} ${standing[frame.status]}.`
    : `Execution ${id} has no step ${stepId}.`;
  const advice =
    doubts.length > 0
      ? ["In doubt are", ...doubts.map((doubt) => `  ${doubt.stepId}`)]
      : [`Nothing of it is in doubt. heddle doubts --db ${log.directory} lists what is.`];
  return new CommandFailure(1, [what, ...advice].join("\n"), "STEP_NOT_IN_DOUBT");
}
