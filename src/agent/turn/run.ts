// AgentRun: what one loop carries from turn to turn. All of it follows from the log: a replay builds it again.

import type { ExecutionContext, TypedFailure } from "../../kernel/index.js";
import {
  type AssistantMessage,
  addUsage,
  type LlmMessage,
  type LlmResponse,
  type LlmUsage,
} from "../../llm/index.js";
import { agentInterrupted } from "../errors.js";
import type { AgentLoopConfig, AgentLoopInput, LoopSettings } from "../loop-config.js";
import type { MetaTool } from "../menu/meta-tool.js";
import type { ToolMenu } from "../menu/tool-menu.js";
import type { AgentResult } from "../result.js";
import { CallLog } from "../tools/call-log.js";
import { Transcript } from "../transcript/transcript.js";
import { callIdsOf, withOwnIds } from "./answer.js";
import type { Opening } from "./opening.js";

/** The loop itself, as tools that are agents need it. */
export type RunAgent = (
  ctx: ExecutionContext,
  config: AgentLoopConfig,
  input: AgentLoopInput,
) => Promise<AgentResult>;

/** What stands for the text of a turn that was stopped before there was any. */
const NOTHING_SAID = "(Interrupted before anything was said.)";

export class AgentRun {
  readonly ctx: ExecutionContext;
  readonly settings: LoopSettings;
  readonly system: string | undefined;
  readonly conversation = new Transcript();
  readonly menu: ToolMenu;
  readonly metaTools: ReadonlyMap<string, MetaTool>;
  readonly calls: CallLog;
  readonly runAgent: RunAgent;
  /** Turns begun. */
  iterations = 0;
  /** Of the turn that is under way. */
  turnId = "";
  /** Calls the model got wrong. */
  corrections = 0;
  #usage: LlmUsage | undefined;
  #isSizeTold = false;
  readonly #callIds = new Set<string>();

  constructor(ctx: ExecutionContext, settings: LoopSettings, opening: Opening, runAgent: RunAgent) {
    this.ctx = ctx;
    this.settings = settings;
    this.calls = new CallLog(settings.maxToolResultBytes);
    this.system = opening.system;
    this.menu = opening.menu;
    this.metaTools = opening.metaTools;
    this.runAgent = runAgent;
  }

  get loopId(): string {
    return this.settings.id;
  }

  /** Of the turn that is under way. */
  get turn(): number {
    return this.iterations - 1;
  }

  beginTurn(): void {
    this.turnId = `${this.loopId}#turn:${this.iterations}`;
    this.iterations++;
  }

  /** A conversation that only grows will be refused one day. */
  warnOfSize(): void {
    const { warnTranscriptBytes, warn } = this.settings;
    const { bytes } = this.conversation;
    if (this.#isSizeTold || warnTranscriptBytes === false || bytes <= warnTranscriptBytes) return;
    this.#isSizeTold = true;
    const message = `The conversation of ${this.loopId} has ${bytes} bytes and nothing compacts it: see the option compaction.`;
    warn("LOOM_AGENT_TRANSCRIPT_LARGE", message);
  }

  /** What the model knows before its first turn. */
  begin(messages: readonly LlmMessage[]): void {
    for (const id of callIdsOf(messages)) this.#callIds.add(id);
    for (const message of messages) this.conversation.say(message);
  }

  identified(message: AssistantMessage): AssistantMessage {
    return message.toolCalls ? withOwnIds(message, this.turn, this.#callIds) : message;
  }

  count(usage: LlmUsage | undefined): void {
    this.#usage = addUsage(this.#usage, usage);
  }

  result({ content, stopReason }: LlmResponse): AgentResult {
    return {
      content,
      iterations: this.iterations,
      toolCallLog: this.calls.entries,
      ...(this.#usage && { usage: this.#usage }),
      stopReason,
    };
  }

  /**
   * The end of an agent that was stopped. Its conversation ends in a message of its own, so that whoever goes on may speak next.
   *
   * @param content what it said in the turn that was stopped
   */
  interrupted(content: string): TypedFailure {
    this.conversation.say({ role: "assistant", content: content || NOTHING_SAID, interrupted: true });
    const { iterations } = this;
    return agentInterrupted({ content, iterations, toolCallLog: this.calls.entries });
  }
}
