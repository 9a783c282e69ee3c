// Errors: one base class, one documented union of codes.
//
// Callers branch on `code`; messages are for people and may change. A code is never renamed or reused. Subclasses
// exist only where a caller handles the error differently (a typed failure carries a payload, a lock names its owner).

/** What each code means, and whether trying the same call again later can succeed. */
export const ERROR_CODES = {
  // Configuration and definitions
  CONFIG_INVALID: {
    retryable: false,
    meaning: "an option of defineConfig or of a definition is missing or malformed",
  },
  CONFIG_OPTION_MOVED: {
    retryable: false,
    meaning: "an option stands at the top level; the message names its group",
  },
  DEFINITION_CONFLICT: { retryable: false, meaning: "two different flows, steps or effects share one name" },
  // The boundary of the runtime
  ID_INVALID: { retryable: false, meaning: "an id is empty, malformed, or over its limit in UTF-8 bytes" },
  INPUT_INVALID: { retryable: false, meaning: "an input does not satisfy its schema" },
  OUTPUT_INVALID: { retryable: false, meaning: "a result does not satisfy its schema" },
  FLOW_UNKNOWN: { retryable: false, meaning: "no flow is registered under this id and version" },
  EXECUTION_UNKNOWN: { retryable: false, meaning: "no execution has this id" },
  EXECUTION_CONFLICT: {
    retryable: false,
    meaning: "the id is taken by an execution with another flow or input",
  },
  EXECUTION_ENDED: { retryable: false, meaning: "the execution has completed, failed or been cancelled" },
  EXECUTION_FAILED: {
    retryable: false,
    meaning: "result() of an execution whose flow failed; the cause is its error",
  },
  EXECUTION_CANCELLED: { retryable: false, meaning: "the execution was cancelled" },
  CANCELLED: {
    retryable: false,
    meaning:
      "thrown in the flow: its execution is being cancelled; what has to be cleaned up goes into ctx.shield",
  },
  EXECUTION_DENIED: {
    retryable: false,
    meaning: "the caller may not do this with the execution; nothing was recorded",
  },
  RESUME_UNAUTHENTICATED: {
    retryable: false,
    meaning:
      "who answers a gate could not be authenticated; nothing was recorded, and the gate is still open",
  },
  EXECUTION_SET_ASIDE: {
    retryable: true,
    meaning: "the execution cannot run with the code at hand; it keeps its log",
  },
  EXECUTION_QUARANTINED: {
    retryable: true,
    meaning:
      "threads ended again and again while they ran the execution; it is set aside until the next opening",
  },
  RUNTIME_CLOSED: { retryable: false, meaning: "the runtime is closing or closed" },
  RUNTIME_NOT_STARTED: {
    retryable: true,
    meaning: "the runtime was built with autostart: false and not started",
  },
  // Gates
  GATE_NOT_OPEN: { retryable: true, meaning: "no open gate has this name; early signals are not kept" },
  GATE_AMBIGUOUS: {
    retryable: false,
    meaning: "several open gates have this name and the resume names none of them",
  },
  GATE_ALREADY_RESOLVED: { retryable: false, meaning: "another resume or the timeout got there first" },
  GATE_TIMED_OUT: {
    retryable: false,
    meaning: "thrown in the flow: nobody resolved the gate within its timeout",
  },
  RESUME_PAYLOAD_INVALID: {
    retryable: false,
    meaning: "a resume payload does not satisfy the gate's schema",
  },
  // Effects
  EFFECT_UNKNOWN: { retryable: false, meaning: "no effect is registered under this toolId" },
  EFFECT_DENIED: { retryable: false, meaning: "the authorizer did not allow the effect; it did not run" },
  EFFECT_STOPPED: { retryable: false, meaning: "a kill switch was engaged; the effect did not run" },
  EFFECT_MODE_VIOLATION: {
    retryable: false,
    meaning:
      "an ambient effect inside an execution, or a journaled one outside: the message names the other door",
  },
  NEXT_MISUSED: {
    retryable: false,
    meaning: "a middleware called next() twice, or after its attempt was over; the effect may have run",
  },
  EFFECT_TIMED_OUT: { retryable: true, meaning: "an attempt ran longer than its timeoutMs" },
  QUOTA_EXCEEDED: {
    retryable: false,
    meaning:
      "a budget is used up: the effect did not run, or was cut while it ran; the details say which and until when",
  },
  EFFECT_DEADLINE_EXCEEDED: {
    retryable: false,
    meaning: "a step with all its attempts took longer than its deadlineMs",
  },
  STEP_STOPPED: {
    retryable: false,
    meaning: "the signal its task was given was aborted; what the effect did until then is done",
  },
  STEP_NOT_IN_DOUBT: { retryable: false, meaning: "a verdict for a step that waits for none" },
  EFFECT_WORKER_LOST: {
    retryable: true,
    meaning: "the thread that ran an attempt ended under it; the attempt may have done its work",
  },
  OVERLOADED: {
    retryable: true,
    meaning: "a bounded queue is full: offer the work again when there is room",
  },
  STEP_FAILED: { retryable: false, meaning: "a step failed with something that was not an Error" },
  CHANNEL_REFUSED: {
    retryable: false,
    meaning:
      "a typed failure on an undeclared channel, or with a payload that is invalid or too large: recorded as a plain one",
  },
  TYPED_FAILURE: { retryable: false, meaning: "an effect failed on a channel it declared" },
  // Models
  LLM_PROMPT_INVALID: {
    retryable: false,
    meaning:
      "a request to a model was refused before it left: marked text where no fence can hold it, or calls without results",
  },
  LLM_SDK_MISSING: {
    retryable: false,
    meaning: "a provider's package is not installed, or cannot be loaded; the message names it",
  },
  LLM_UNAUTHENTICATED: {
    retryable: false,
    meaning: "the provider does not know the key, or the key may not do this; or there is none",
  },
  LLM_REQUEST_REFUSED: {
    retryable: false,
    meaning:
      "the provider refuses the request, and would again: an unknown model, a parameter, used-up credit",
  },
  LLM_CONTEXT_TOO_LONG: {
    retryable: false,
    meaning: "the conversation is longer than the model takes",
  },
  LLM_RATE_LIMITED: {
    retryable: true,
    meaning: "the provider wants fewer requests; `retryAfterMs` says until when, where it did",
  },
  LLM_UNAVAILABLE: {
    retryable: true,
    meaning: "the provider is overloaded, out of order or out of reach, or the connection broke off",
  },
  LLM_RESPONSE_INVALID: {
    retryable: true,
    meaning: "the provider answered with something that is no answer",
  },
  LLM_ABORTED: {
    retryable: false,
    meaning: "the caller's signal stopped the request; its reason is the cause",
  },
  // The flow's own code
  STEP_ID_REUSED: { retryable: false, meaning: "one run issued the same step id twice" },
  CONTEXT_MISUSED: {
    retryable: false,
    meaning: "ctx was used outside its flow's turn, for example in a step's body",
  },
  FOREIGN_AWAIT: { retryable: false, meaning: "a flow waits for something that is not in its log" },
  REPLAY_DIVERGED: { retryable: true, meaning: "the flow's code does not match what its log recorded" },
  // Agents
  AGENT_SEARCH_UNAVAILABLE: {
    retryable: false,
    meaning: "the ranker of a search failed; the model was told so",
  },
  AGENT_SKILL_UNAVAILABLE: {
    retryable: false,
    meaning: "a skill an agent was to begin with gives no instructions",
  },
  AGENT_TOOL_CHANGED: {
    retryable: false,
    meaning: "a tool is not what the model was told of, or is gone; the call was refused",
  },
  IDEMPOTENT_TOOL_REFUSED: {
    retryable: false,
    meaning:
      "a tool that may not be called twice, where a crash would call it again: no call of that turn was made",
  },
  AGENT_LOOP_CONFIG_INVALID: {
    retryable: false,
    meaning: "an option of agentLoop$ is unknown, malformed or contradicts another; the details name it",
  },
  AGENT_CONTEXT_UNTRUSTED: {
    retryable: false,
    meaning: "an agent's context holds a tainted value; no model was asked",
  },
  AGENT_TURN_LIMIT: {
    retryable: false,
    meaning: "an agent took as many turns as maxIterations allows and gave no answer",
  },
  AGENT_EMPTY_ANSWER: {
    retryable: false,
    meaning: "a model said nothing and called nothing, again and again; the details say in which way",
  },
  AGENT_CORRECTION_LIMIT: {
    retryable: false,
    meaning: "a model got more tool calls wrong than maxCorrections allows",
  },
  AGENT_ANSWER_INVALID: {
    retryable: false,
    meaning: "what a model effect gave back is no answer of a model",
  },
  AGENT_TURN_UNREADABLE: {
    retryable: false,
    meaning: "the request of a turn cannot be rebuilt from the log at hand",
  },
  // Values that may not be read
  SEALING_KEY_MISSING: {
    retryable: false,
    meaning: "a schema marks a value and there is no key to seal it with; nothing was written",
  },
  SEALED_UNREADABLE: {
    retryable: true,
    meaning: "a sealed value does not open: its key is not configured, or another one is",
  },
  SECRET_UNRESOLVED: {
    retryable: true,
    meaning: "a secretRef could not be resolved; the effect did not run",
  },
  // Values and records
  VALUE_NOT_RECORDABLE: {
    retryable: false,
    meaning: "a value of a kind the log cannot keep; the message has its path",
  },
  VALUE_TOO_LARGE: { retryable: false, meaning: "a value over the configured size" },
  RECORD_UNREADABLE: { retryable: false, meaning: "a record of the log cannot be decoded" },
  // Content
  DIGEST_FAILED: {
    retryable: false,
    meaning: "a digest threw, or gave no small recordable value; the effect has run",
  },
  CONTENT_MISSING: { retryable: false, meaning: "what an address of content stood for is not in the store" },
  // Tests
  RECORDING_MISSING: {
    retryable: false,
    meaning: "a cassette of recorded answers of models has none to this request, or is not there",
  },
  WAIT_TIMED_OUT: { retryable: true, meaning: "what a test waited for did not come in time" },
  // Storage
  FORMAT_UNSUPPORTED: { retryable: false, meaning: "the directory was written by another format version" },
  DIRECTORY_UNKNOWN: { retryable: false, meaning: "there is no heddle log at this path" },
  PARTITION_THREAD_LOST: {
    retryable: true,
    meaning: "the thread of the partition ended before it answered; what was asked may have become durable",
  },
  PARTITION_LOCKED: { retryable: true, meaning: "another living runtime owns the directory" },
  STORAGE_FAILED: { retryable: true, meaning: "the store could not commit or read" },
  INVARIANT_BROKEN: { retryable: false, meaning: "a bug in heddle: please report it with the message" },
} as const satisfies Record<string, { retryable: boolean; meaning: string }>;

export type HeddleErrorCode = keyof typeof ERROR_CODES;

export interface HeddleErrorOptions {
  readonly cause?: unknown;
  /** Facts a program may want: ids, limits, positions. Never payloads or secrets. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** The base of every error heddle throws or records. */
export class HeddleError extends Error {
  override name = "HeddleError";
  readonly code: HeddleErrorCode;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: HeddleErrorCode, message: string, options: HeddleErrorOptions = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.details = options.details ?? {};
  }

  get retryable(): boolean {
    return ERROR_CODES[this.code].retryable;
  }
}

/** Thrown by `resume()` for a payload its gate's schema refuses. Nothing was appended; the gate is still open. */
export class ResumePayloadValidationError extends HeddleError {
  override name = "ResumePayloadValidationError";
  readonly issues: readonly ValidationIssue[];

  constructor(message: string, issues: readonly ValidationIssue[], details: Record<string, unknown>) {
    super("RESUME_PAYLOAD_INVALID", message, { details: { ...details, issues } });
    this.issues = issues;
  }
}

/** One complaint of a schema: where, and what is wrong there. */
export interface ValidationIssue {
  readonly path: string;
  readonly message: string;
}

/** Thrown when an effect is called through the door it declared itself against. Nothing ran and nothing was recorded. */
export class EffectModeViolationError extends HeddleError {
  override name = "EffectModeViolationError";

  constructor(effectId: string, mode: "journaled" | "ambient") {
    const message =
      mode === "ambient"
        ? `Effect ${effectId} is ambient and may not enter an execution: call effectRuntime.invokeTransient("${effectId}", input) outside of the flow.`
        : `Effect ${effectId} is journaled and may not be called outside of an execution: run it in a flow with ctx.execute.`;
    super("EFFECT_MODE_VIOLATION", message, { details: { effectId, mode } });
  }
}

/** Thrown when a configured bound is reached. Nothing was taken in: offer the same work again later. */
export class OverloadedError extends HeddleError {
  override name = "OverloadedError";
  /** The bound that was reached. */
  readonly limit: number;

  constructor(what: string, limit: number, options: HeddleErrorOptions = {}) {
    super(
      "OVERLOADED",
      `There are as many ${what} as were configured (${limit}). Offer the work again when some of it is done, or raise the bound.`,
      { ...options, details: { ...options.details, limit } },
    );
    this.limit = limit;
  }
}

/** Thrown when a directory (or one of its partitions) is owned by another living runtime. */
export class PartitionLockedError extends HeddleError {
  override name = "PartitionLockedError";

  constructor(directory: string, owner: { pid: number; host: string; since: number } | undefined) {
    const who = owner
      ? `process ${owner.pid} on ${owner.host} (since ${new Date(owner.since).toISOString()})`
      : "another runtime";
    super(
      "PARTITION_LOCKED",
      `${directory} is owned by ${who}. Stop that process, close that runtime, or open another directory.`,
      { details: { directory, ...(owner && { owner }) } },
    );
  }
}

/**
 * A declared domain outcome of an effect: schema drift, not found, quota. Recorded with its payload and served on
 * replay, so a flow may branch on it.
 */
export class TypedFailure extends HeddleError {
  override name = "TypedFailure";
  readonly channel: string;
  readonly payload: unknown;

  constructor(channel: string, payload: unknown, message = `failed on channel ${channel}`) {
    super("TYPED_FAILURE", message, { details: { channel } });
    this.channel = channel;
    this.payload = payload;
  }
}

/** A broken rule of our own. Labels (`P2`) are those of the module headers. */
export function invariant(condition: unknown, label: string, detail: string): asserts condition {
  if (!condition) throw new HeddleError("INVARIANT_BROKEN", `${label}: ${detail}`, { details: { label } });
}

/** For an option that cannot be as it is. `complaint` follows on the option's name, as a user wrote it, and has no full stop. */
export function invalidOption(option: string, complaint: string, cause?: unknown): HeddleError {
  return new HeddleError("CONFIG_INVALID", `${option} ${complaint}.`, {
    details: { option },
    ...(cause !== undefined && { cause }),
  });
}

/** Whether `error` is a heddle error of the given code, also when it came back from a log or another thread. */
export function hasCode(error: unknown, code: HeddleErrorCode): boolean {
  return typeof error === "object" && error !== null && (error as { code?: unknown }).code === code;
}
