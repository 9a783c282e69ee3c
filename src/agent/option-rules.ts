// Rules for the options of a loop. A rule says what is wrong with a value, in words that follow on the option's name.

import {
  checkEventName,
  checkId,
  type HeddleError,
  isSkillDefinition,
  isTainted,
  isToolDefinition,
} from "../kernel/index.js";
import { AgentLoopConfigError } from "./errors.js";

/** Undefined: nothing is. */
export type Rule = (value: unknown) => string | undefined;

export type RuleTable<T> = { readonly [Option in keyof Required<T>]: Rule };

const count =
  (least: number): Rule =>
  (value) =>
    Number.isSafeInteger(value) && (value as number) >= least
      ? undefined
      : `must be a whole number of at least ${least}, not ${shown(value)}`;

const duration: Rule = (value) =>
  typeof value === "number" && value > 0 && Number.isFinite(value)
    ? undefined
    : `must be a positive number of milliseconds, not ${shown(value)}`;

const text: Rule = (value) =>
  typeof value === "string" && value !== "" ? undefined : `must be a text, and not empty`;

const listOf =
  (is: (item: unknown) => boolean, of: string): Rule =>
  (value) =>
    Array.isArray(value) && value.every(is) ? undefined : `must be a list of ${of}`;

const plain = {
  anything: () => undefined,
  flag: (value) => (typeof value === "boolean" ? undefined : `must be true or false, not ${shown(value)}`),
  never: (value) => (value === false ? undefined : `must be false, not ${shown(value)}`),
  callback: (value) => (typeof value === "function" ? undefined : "must be a function"),
  texts: listOf((item) => typeof item === "string" && item !== "", "texts, none of them empty"),
  tools: listOf(isToolDefinition, "tools, as tool$ gives them"),
  skills: listOf(isSkillDefinition, "skills, as skill$ gives them"),
  messages: (value) =>
    Array.isArray(value) && value.every(isMessage)
      ? undefined
      : "must be a list of messages, each with a role and a content",
  llmText: (value) => (typeof value === "string" || isTainted(value) ? undefined : "must be a text"),
  signal: (value) => (value instanceof AbortSignal ? undefined : "must be an AbortSignal"),
  agent: (value) => (isAgent(value) ? undefined : "must be an agent, as agent$ gives it"),
  id: (value) => complaintOf(() => checkId("it", value)),
  eventName: (value) => complaintOf(() => checkEventName("it", value)),
} satisfies Record<string, Rule>;

export const rules = {
  ...plain,
  text,
  count,
  duration,
  oneOf:
    (...names: readonly string[]): Rule =>
    (value) =>
      names.includes(value as string)
        ? undefined
        : `must be ${names.map((name) => JSON.stringify(name)).join(" or ")}, not ${shown(value)}`,
  either:
    (...some: readonly Rule[]): Rule =>
    (value) => {
      const complaints = some.map((rule) => rule(value));
      return complaints.includes(undefined) ? undefined : complaints.join(", or ");
    },
};

/** As far as everything that reads messages takes for granted. What of them may go to a model, the prompt boundary says. */
function isMessage(value: unknown): boolean {
  const { role, content, toolCalls = [], reasoning = [] } = (value ?? {}) as Record<string, unknown>;
  const isSaid = typeof content === "string" || isTainted(content);
  if (role === "assistant") return isSaid && isObjects(toolCalls) && isObjects(reasoning);
  return (role === "user" || role === "tool") && (isSaid || isObjects(content));
}

function isObjects(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === "object" && item !== null);
}

function isAgent(value: unknown): boolean {
  const { id, tools } = (value ?? {}) as { readonly id?: unknown; readonly tools?: unknown };
  return typeof id === "string" && Array.isArray(tools);
}

/** What a check of the kernel has to say. */
function complaintOf(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return `is no name: ${(error as HeddleError).message.replace(/\.$/, "")}`;
  }
}

function shown(value: unknown): string {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" ? JSON.stringify(value) : typeof value;
}

/**
 * @param what names the options as a whole, for what is no object
 * @param prefix comes before the name of each
 * @throws AgentLoopConfigError for options there are none of, and values that break their rule
 */
export function checkOptions(
  what: string,
  options: unknown,
  table: Readonly<Record<string, Rule>>,
  prefix: string,
): void {
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw new AgentLoopConfigError(what, "must be an object");
  for (const [option, value] of Object.entries(options)) {
    const rule = Object.hasOwn(table, option) ? table[option] : undefined;
    if (!rule) {
      const known = Object.keys(table).join(", ");
      throw new AgentLoopConfigError(prefix + option, `is no option; there are ${known}`);
    }
    const complaint = value === undefined ? undefined : rule(value);
    if (complaint !== undefined) throw new AgentLoopConfigError(prefix + option, complaint);
  }
}
