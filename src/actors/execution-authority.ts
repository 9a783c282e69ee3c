// ExecutionAuthority: who may start, look at, answer, cancel and send to executions. Asked at the runtime's doors, in the
// host's thread, before anything is appended; what effects may do is another question (effects/authority).
//
// E1  It fails closed: an authorizer that throws, or answers with anything but a verdict, denies; so does an authenticator.
// E2  A denial leaves nothing in the log. Where the authorizer says so, it looks like an execution that does not exist.
//     One that does not answer keeps its caller waiting, until the runtime closes.
// E3  Principals are told to the authorizer and to the hook of the host, and stand in no message of ours.

import { isPrincipal, type Principal } from "../effects/index.js";
import { contained, type ExecutionHeader, HeddleError, isThenable } from "../kernel/index.js";
import type { ResumeRequest } from "./messages.js";
import { unknownExecution } from "./refusals.js";

/** "query" is every look at an execution, "resume" an answer to a gate and a verdict on a step in doubt. */
export type ExecutionAction = "start" | "query" | "resume" | "cancel" | "send";

export interface ExecutionAuthzRequest {
  readonly action: ExecutionAction;
  readonly executionId: string;
  /** The id of its flow; undefined when there is no such execution. */
  readonly workflowId: string | undefined;
  /** Who asks. */
  readonly principal: Principal | undefined;
  /** Of a start: who the execution is to act for, when that is not who asks. */
  readonly actsFor?: Principal | undefined;
  /** Of a resume: the name of the gate's event. */
  readonly eventType?: string;
  /** Of a verdict: the step in doubt. */
  readonly stepId?: string;
}

export type ExecutionVerdict =
  | { readonly allowed: true }
  | {
      readonly allowed: false;
      readonly reason?: string;
      /** The caller is told that there is no such execution, instead of that it may not. Not for starts. Default false. */
      readonly asUnknown?: boolean;
    };

export interface ExecutionAuthorizer {
  authorize(request: ExecutionAuthzRequest): ExecutionVerdict | Promise<ExecutionVerdict>;
}

/** An answer to a gate as it came in, before anything of it is recorded. */
export interface ResumeAuthnRequest extends ResumeRequest {
  readonly executionId: string;
  /** Who the caller says it is. */
  readonly principal: Principal | undefined;
  /** What the caller shows for that: a token, a signature. Never recorded. */
  readonly credentials: unknown;
}

export interface ResumeAuthenticator {
  /** Gives who it is that answers; undefined, or an error, refuses the answer. */
  authenticate(request: ResumeAuthnRequest): Principal | undefined | Promise<Principal | undefined>;
}

export type OnExecutionDenied = (request: ExecutionAuthzRequest, reason?: string) => void;

export interface ExecutionAuthorityOptions {
  readonly executionAuthorizer?: ExecutionAuthorizer | undefined;
  readonly resumeAuthenticator?: ResumeAuthenticator | undefined;
  /** Told of each denial, but for executions that a list leaves out. */
  readonly onExecutionDenied?: OnExecutionDenied | undefined;
}

const ALLOWED: ExecutionVerdict = { allowed: true };

export class ExecutionAuthority {
  readonly #options: ExecutionAuthorityOptions;
  readonly #warn: (message: string) => void;
  /** Who waits for an answer. */
  readonly #waiting = new Set<(error: unknown) => void>();
  #end: { readonly error: unknown } | undefined;

  constructor(options: ExecutionAuthorityOptions, warn: (message: string) => void) {
    this.#options = options;
    this.#warn = warn;
  }

  /** Nobody waits for an answer any more: who does hears of this. */
  close(error: unknown): void {
    this.#end = { error };
    for (const reject of this.#waiting) reject(error);
  }

  /** @throws EXECUTION_DENIED, or EXECUTION_UNKNOWN where the verdict says so (E2) */
  async check(request: ExecutionAuthzRequest): Promise<void> {
    const verdict = await this.#verdictOn(request);
    if (verdict.allowed) return;
    const { reason, asUnknown = false } = verdict;
    this.#tell(request, reason);
    const { action, executionId } = request;
    if (asUnknown && action !== "start") throw unknownExecution(executionId);
    throw new HeddleError(
      "EXECUTION_DENIED",
      `The caller may not ${action} execution ${executionId}${reason === undefined ? "" : `: ${reason}`}. Nothing was recorded.`,
      { details: { action, executionId } },
    );
  }

  /** Those of the executions that the caller may look at. */
  async visible(
    headers: readonly ExecutionHeader[],
    principal: Principal | undefined,
  ): Promise<ExecutionHeader[]> {
    const verdicts = await Promise.all(
      headers.map(({ id, flowId }) =>
        this.#verdictOn({ action: "query", executionId: id, workflowId: flowId, principal }),
      ),
    );
    return headers.filter((_, i) => verdicts[i]!.allowed);
  }

  /**
   * Who answers a gate.
   *
   * @throws RESUME_UNAUTHENTICATED
   */
  async authenticate(request: ResumeAuthnRequest): Promise<Principal | undefined> {
    const { resumeAuthenticator } = this.#options;
    if (!resumeAuthenticator) return request.principal;
    let principal: unknown;
    let why = "";
    try {
      principal = await this.#untilClosed(resumeAuthenticator.authenticate(request));
    } catch (error) {
      this.#checkOpen();
      why = ` (the authenticator failed: ${nameOf(error)})`;
    }
    if (isPrincipal(principal)) return principal;
    const { executionId, eventType } = request;
    throw new HeddleError(
      "RESUME_UNAUTHENTICATED",
      `Who answers ${eventType} of execution ${executionId} could not be authenticated${why}. Nothing was recorded; the gate is still open.`,
      { details: { executionId, eventType } },
    );
  }

  /** E1 */
  async #verdictOn(request: ExecutionAuthzRequest): Promise<ExecutionVerdict> {
    const { executionAuthorizer } = this.#options;
    if (!executionAuthorizer) return ALLOWED;
    try {
      // A request of its own: what is checked is what was asked.
      const verdict = await this.#untilClosed(executionAuthorizer.authorize({ ...request }));
      if (isVerdict(verdict)) return verdict;
      return { allowed: false, reason: "the authorizer gave no verdict" };
    } catch (error) {
      this.#checkOpen();
      return { allowed: false, reason: `the authorizer failed (${nameOf(error)})` };
    }
  }

  async #untilClosed(answer: unknown): Promise<unknown> {
    if (!isThenable(answer)) return answer;
    const answered = contained(Promise.resolve(answer));
    this.#checkOpen();
    let stop: (error: unknown) => void = () => {};
    try {
      return await new Promise<unknown>((resolve, reject) => {
        stop = reject;
        this.#waiting.add(stop);
        answered.then(resolve, reject);
      });
    } finally {
      this.#waiting.delete(stop);
    }
  }

  #checkOpen(): void {
    if (this.#end) throw this.#end.error;
  }

  /** Nothing the hook does changes a denial. */
  #tell(request: ExecutionAuthzRequest, reason: string | undefined): void {
    const failed = (error: unknown): void => this.#warn(`security.onExecutionDenied threw: ${nameOf(error)}`);
    try {
      const told: unknown = this.#options.onExecutionDenied?.(request, reason);
      if (isThenable(told)) Promise.resolve(told).catch(failed);
    } catch (error) {
      failed(error);
    }
  }
}

/** What is needed of the authority of these options; undefined when they ask for none, which costs nothing. */
export function executionAuthority(
  options: ExecutionAuthorityOptions,
  warn: (message: string) => void,
): ExecutionAuthority | undefined {
  const { executionAuthorizer, resumeAuthenticator } = options;
  return executionAuthorizer || resumeAuthenticator ? new ExecutionAuthority(options, warn) : undefined;
}

function isVerdict(value: unknown): value is ExecutionVerdict {
  const { allowed, reason, asUnknown } = (value ?? {}) as Record<string, unknown>;
  if (typeof allowed !== "boolean") return false;
  return (
    (reason === undefined || typeof reason === "string") &&
    (asUnknown === undefined || typeof asUnknown === "boolean")
  );
}

/** The message of a foreign error may say who it was about. (E3) */
function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : "threw";
}
