// What a loop is given: its options, checked as they come in and filled up with their defaults.

import type { AgentDefinition, ToolDefinition } from "../kernel/index.js";
import type { LlmMessage, LlmText } from "../llm/index.js";
import {
  type CompactionOptions,
  type CompactionSettings,
  compactionComplaint,
  compactionSettings,
} from "./compaction/options.js";
import { AgentLoopConfigError } from "./errors.js";
import { type AgentMemory, memoryComplaint } from "./memory/agent-memory.js";
import { type WriteBack, writeBackComplaint } from "./memory/write-back.js";
import type { ToolChange } from "./menu/tool-menu.js";
import { checkOptions, type RuleTable, rules } from "./option-rules.js";
import { checkModelChoice, type ModelChoice, reasonerComplaint } from "./routing/model-choice.js";
import { readToolSearch, type ToolSearchOptions, type ToolSearchSettings } from "./search/tool-search.js";
import {
  readSkillOptions,
  type SkillOptions,
  type SkillSettings,
  skillsComplaint,
} from "./skills/skill-options.js";
import { type Warn, warnerOf, warnOfRequireApproval } from "./warnings.js";

/** A call as a policy sees it. */
export interface ToolCallRequest {
  readonly id: string;
  /** For a policy the id of the tool; in a conversation what the model calls it, which is the same where every provider takes it. */
  readonly name: string;
  /** As the model gave it: of the tool's schema, and not parsed by it. */
  readonly input: unknown;
}

/** `turn` counts from 0. */
export type ToolCallPolicy = (call: ToolCallRequest, turn: number) => boolean | Promise<boolean>;

export interface AgentLoopConfig extends ModelChoice, SkillOptions {
  /** Who the agent is, and the tools it has. */
  readonly definition: AgentDefinition;
  /** Names the loop in the log. Default: `agent:` and the id of the definition. Several loops in one execution need one each. */
  readonly id?: string;
  /** Default: the definition's. */
  readonly systemPrompt?: string;
  /** Turns at most; then it fails with AGENT_TURN_LIMIT. Default 25. */
  readonly maxIterations?: number;
  /**
   * "feedback": a tool that fails is an error result, which the model may act on. "fail": it fails the agent. Denials, quotas,
   * stops and cancellations fail it always. Default "feedback".
   */
  readonly toolErrors?: "feedback" | "fail";
  /** Calls of one turn side by side: at most so many, or all of them. Default false. */
  readonly parallelTools?: boolean | number;
  /** Stops this agent, and not its execution. It then fails on the channel `agentInterrupted`. */
  readonly signal?: AbortSignal;
  /** For one attempt to ask the model, in milliseconds. Default: none. */
  readonly turnTimeoutMs?: number;
  /** For one attempt to run a tool, in milliseconds; then the model gets an error result. Default: what the tool says, or none. */
  readonly toolTimeoutMs?: number;
  /** True: somebody has to approve the call. Asked once for each call, ever: what it said is recorded. */
  readonly needsApproval?: ToolCallPolicy;
  /** @deprecated The same the other way round: false asks. Use `needsApproval`. */
  readonly requireApproval?: ToolCallPolicy;
  /** The gate at which approvals are waited for. Default "AgentToolApproval". */
  readonly approvalGate?: string;
  /** The gate at which tools of kind "human" wait for their answers. Default "AgentHumanAnswer". */
  readonly humanGate?: string;
  /** How often in a row a turn without text and calls is asked for again. Default 2. */
  readonly maxEmptyAnswers?: number;
  /** How many calls in all a model may get wrong. Default 20. */
  readonly maxCorrections?: number;
  /** Calls of one turn that are answered with more than a refusal. Default 128. */
  readonly maxCallsPerTurn?: number;
  /** What the model is shown of one result at most, in bytes of UTF-8. The log has all of it. Default 102,400. */
  readonly maxToolResultBytes?: number;
  /** What the agent is reminded of before its first turn. */
  readonly memory?: AgentMemory;
  /** Entries it is reminded of at most; 0: none. Default 20. */
  readonly recallLimit?: number;
  /** How prompt and answer are kept once it has answered. Default: they are not. */
  readonly writeBack?: WriteBack;
  /** When the older part of the conversation gives way to a summary. Default: never. */
  readonly compaction?: CompactionOptions;
  /** Warns once when the conversation has more bytes and nothing compacts it. Default 262,144; false: never. */
  readonly warnTranscriptBytes?: number | false;
  /** Lets the model search a large catalog of tools, instead of being told of all of them. Default: it cannot. */
  readonly toolSearch?: ToolSearchOptions;
  /**
   * Whether what third parties say of their tools, in descriptions and JSON schemas, is shown to the model. A third party's is a tool
   * with `origin: "remote"`, a `jsonInputSchema` or the kind "a2a". Default false.
   */
  readonly trustJsonSchemaText?: boolean;
  /**
   * Asked before a call of a tool whose description or schema is not what this agent was told of it. True: the call is refused, and
   * the model told so. What was told stays told, whatever this says. Default: no call is refused. Calls of tools that are gone
   * always are.
   */
  readonly refuseChangedTool?: (change: ToolChange) => boolean;
  /** Told of what is odd and works. Default: a warning of the process. */
  readonly onWarn?: (message: string) => void;
}

export interface AgentLoopInput {
  readonly prompt?: LlmText;
  /** Where the prompt came from, if nobody vouches for it: the model then sees it in a fence. */
  readonly promptOrigin?: string;
  /** The conversation so far. It comes before the prompt. */
  readonly history?: readonly LlmMessage[];
  /** Facts for the model, which it gets as JSON in its system prompt. Nothing in it may be tainted. */
  readonly context?: unknown;
}

type Defaulted =
  | "id"
  | "maxIterations"
  | "toolErrors"
  | "approvalGate"
  | "humanGate"
  | "maxEmptyAnswers"
  | "maxCorrections"
  | "maxCallsPerTurn"
  | "maxToolResultBytes"
  | "recallLimit"
  | "warnTranscriptBytes"
  | "trustJsonSchemaText";

/** Options with options of their own, or of several forms. */
type Read = keyof SkillOptions | "toolSearch" | "compaction";

/** A configuration that was checked. */
export interface LoopSettings
  extends Omit<AgentLoopConfig, Defaulted | Read | "parallelTools" | "requireApproval">,
    Required<Pick<AgentLoopConfig, Defaulted>>,
    SkillSettings {
  readonly compaction?: CompactionSettings;
  /** Calls of one turn side by side. */
  readonly toolsAtOnce: number;
  readonly tools: readonly ToolDefinition[];
  readonly toolSearch?: ToolSearchSettings;
  readonly warn: Warn;
}

const RULES: RuleTable<AgentLoopConfig> = {
  definition: rules.agent,
  id: rules.id,
  modelToolId: rules.id,
  reasoning: reasonerComplaint,
  reasoningToolId: rules.id,
  requireReasoningContinuation: rules.flag,
  systemPrompt: rules.text,
  maxIterations: rules.count(1),
  toolErrors: rules.oneOf("feedback", "fail"),
  parallelTools: rules.either(rules.flag, rules.count(1)),
  signal: rules.signal,
  turnTimeoutMs: rules.duration,
  toolTimeoutMs: rules.duration,
  needsApproval: rules.callback,
  requireApproval: rules.callback,
  approvalGate: rules.eventName,
  humanGate: rules.eventName,
  maxEmptyAnswers: rules.count(0),
  maxCorrections: rules.count(0),
  maxCallsPerTurn: rules.count(1),
  maxToolResultBytes: rules.count(1024),
  memory: memoryComplaint,
  recallLimit: rules.count(0),
  writeBack: writeBackComplaint,
  compaction: compactionComplaint,
  warnTranscriptBytes: rules.either(rules.never, rules.count(1)),
  skills: skillsComplaint,
  skillSelector: rules.callback,
  skillActivation: rules.anything,
  toolSearch: rules.anything,
  trustJsonSchemaText: rules.flag,
  refuseChangedTool: rules.callback,
  onWarn: rules.callback,
};

const INPUT_RULES: RuleTable<AgentLoopInput> = {
  prompt: rules.llmText,
  promptOrigin: rules.text,
  history: rules.messages,
  context: rules.anything,
};

/** @throws AgentLoopConfigError, naming the option */
export function readLoopConfig(config: AgentLoopConfig): LoopSettings {
  checkOptions("the configuration", config, RULES, "");
  const { definition, parallelTools = false, requireApproval, needsApproval } = config;
  if (definition === undefined)
    throw new AgentLoopConfigError("definition", "is missing: hand over an agent$");
  checkModelChoice(config);
  if (requireApproval && needsApproval)
    throw new AgentLoopConfigError(
      "requireApproval",
      "is an earlier name of needsApproval: give one of them",
    );
  const { approvalGate = DEFAULTS.approvalGate, humanGate = DEFAULTS.humanGate } = config;
  if (approvalGate === humanGate)
    throw new AgentLoopConfigError("humanGate", "must have another name than approvalGate");
  checkMemory(config);
  if (requireApproval) warnOfRequireApproval(config.onWarn);
  const toolSearch = config.toolSearch && readToolSearch(config.toolSearch);
  return {
    ...DEFAULTS,
    ...present(config),
    ...(toolSearch && { toolSearch }),
    ...readSkillOptions(config, toolSearch !== undefined),
    warn: warnerOf(config.onWarn),
    id: config.id ?? `agent:${definition.id}`,
    ...(config.compaction && { compaction: compactionSettings(config.compaction) }),
    ...(requireApproval && { needsApproval: turnedRound(requireApproval) }),
    toolsAtOnce: parallelTools === true ? Number.POSITIVE_INFINITY : Number(parallelTools) || 1,
    tools: definition.tools,
  };
}

function checkMemory({ memory, recallLimit, writeBack }: AgentLoopConfig): void {
  if (memory) return;
  if (recallLimit !== undefined)
    throw new AgentLoopConfigError("recallLimit", "says how much is recalled, and there is no memory");
  if (writeBack && !("toolId" in writeBack))
    throw new AgentLoopConfigError("writeBack", "is to write into a memory, and there is none");
}

/** What a loop does of itself. */
export const DEFAULTS = {
  maxIterations: 25,
  toolErrors: "feedback",
  approvalGate: "AgentToolApproval",
  humanGate: "AgentHumanAnswer",
  maxEmptyAnswers: 2,
  maxCorrections: 20,
  maxCallsPerTurn: 128,
  maxToolResultBytes: 100 * 1024,
  recallLimit: 20,
  warnTranscriptBytes: 256 * 1024,
  trustJsonSchemaText: false,
} as const;

/** @throws AgentLoopConfigError, naming the field */
export function checkLoopInput(input: AgentLoopInput): void {
  checkOptions("the input", input, INPUT_RULES, "input.");
  if (input.promptOrigin !== undefined && input.prompt === undefined)
    throw new AgentLoopConfigError("input.promptOrigin", "says where a prompt came from, and there is none");
}

/** Without options that are there and undefined: they would hide a default. */
function present(config: AgentLoopConfig): Omit<AgentLoopConfig, Read> {
  const {
    requireApproval: _,
    parallelTools: __,
    skills: ___,
    skillSelector: ____,
    skillActivation: _____,
    toolSearch: ______,
    compaction: _______,
    ...rest
  } = config;
  for (const [option, value] of Object.entries(rest)) {
    if (value === undefined) delete rest[option as keyof typeof rest];
  }
  return rest;
}

function turnedRound(requireApproval: ToolCallPolicy): ToolCallPolicy {
  return async (call, turn) => !(await requireApproval(call, turn));
}
