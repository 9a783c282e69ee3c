/// <reference types="node" preserve="true" />

// Agents: the loop of turns that a flow runs. It stands on the context of the flow alone, and knows nothing of who runs flows.

export type { LlmProvider } from "../llm/index.js";
export { agentLoop$ } from "./agent-loop.js";
export type { CompactionOptions } from "./compaction/options.js";
export {
  createSummarizerEffect,
  type SummarizerInput,
  type SummarizerOptions,
  type Summary,
  summarizerText,
} from "./compaction/summarizer.js";
export { conversationOf } from "./conversation-of.js";
export { AGENT_INTERRUPTED, AgentLoopConfigError, UntrustedContextError } from "./errors.js";
export { type CapturedReasoning, REASONING_CAPTURED } from "./evidence/capture.js";
export type { ReasoningDefaults, ReasoningOptions } from "./evidence/defaults.js";
export {
  type ReadReasoningOptions,
  type ReasoningRecord,
  type ReasoningStatus,
  readReasoning,
} from "./evidence/read-reasoning.js";
export type { ReasoningStore } from "./evidence/sealed-text.js";
export { AgentRunner, type AgentRunnerOptions } from "./legacy/agent-runner.js";
export { type AgentStepOptions, agentStep$ } from "./legacy/agent-step.js";
export { IdempotentToolRefusedError, type OuterContext } from "./legacy/nested-calls.js";
export type { AgentLoopConfig, AgentLoopInput, ToolCallPolicy, ToolCallRequest } from "./loop-config.js";
export type { AgentMemory, MemoryEntry, RecallQuery } from "./memory/agent-memory.js";
export { InMemoryAgentMemory, type InMemoryAgentMemoryOptions } from "./memory/in-memory.js";
export type { Exchange, MemoryWrite, WriteBack } from "./memory/write-back.js";
export type { ToolChange } from "./menu/tool-menu.js";
export {
  type ChunkDeltasOptions,
  type ChunkedDeltas,
  chunkDeltas,
  type DeltaPush,
} from "./model/chunk-deltas.js";
export type { DeltaSink } from "./model/generate.js";
export {
  type AgentModelOptions,
  createAgentModelEffect,
  createLlmEffect,
  type LlmEffectOptions,
  reasoningWarning,
  withReasoningDefaults,
} from "./model/model-effect.js";
export type { ModelResponse } from "./model/response.js";
export type {
  AgentInterruption,
  AgentResult,
  EmptyReason,
  ToolCallError,
  ToolCallLogEntry,
  ToolErrorCode,
} from "./result.js";
export { requireReasoningContinuation } from "./routing/continuation-rule.js";
export {
  type ModelRoute,
  type RouteCall,
  type RoutedResponse,
  routeToolId,
  type TurnReasoner,
  type TurnReasonOptions,
} from "./routing/turn-reasoner.js";
export { type Bm25Options, Bm25ToolRanker } from "./search/bm25-tool-ranker.js";
export { type ToolAnnotation, type ToolSearchDocsOptions, toolSearchDocs } from "./search/tool-docs.js";
export type { ToolDoc, ToolHit, ToolRanker, ToolRankerFactory } from "./search/tool-ranker.js";
export type { ToolSearchOptions } from "./search/tool-search.js";
export type { SkillSelection, SkillSelector } from "./skills/select-skills.js";
export { type LoopSkills, type SelectedSkills, selectedSkillsOf } from "./skills/selected-skills-of.js";
export type { SkillActivationOptions } from "./skills/skill-activation.js";
export { SkillRegistry } from "./skills/skill-registry.js";
export { type AgentTool, type AgentToolLoop, type AgentToolOptions, agentTool$ } from "./tools/agent-tool.js";
export { type AgentApproval, agentApproval } from "./tools/approvals.js";
export { type PendingCall, pendingCalls } from "./tools/pending-calls.js";
export { readTurnRequest, type TurnLog } from "./transcript/turn-reader.js";
