// What all providers on a vendor's SDK are told.

import { checkCount, invalidOption, refuseStrangers } from "../../kernel/index.js";
import { LlmError } from "../llm-error.js";
import { checkHeaders } from "./headers.js";

export interface SdkProviderOptions {
  /** Default: what the environment says, looked up at the first request. */
  readonly apiKey?: string | undefined;
  readonly model?: string | undefined;
  /** Where the API is, if not at the vendor's. */
  readonly baseUrl?: string | undefined;
  /** Sent with every request. Those the provider sets itself are refused. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Of an answer, where the request does not say. */
  readonly maxTokens?: number | undefined;
  /** Of one request: a whole number of at least 1. Default 600,000 ms. */
  readonly timeoutMs?: number | undefined;
}

interface Rules {
  readonly owner: string;
  readonly reservedHeaders: readonly string[];
  /** The options that only this provider has. */
  readonly own: readonly string[];
}

export interface CheckedOptions {
  readonly baseUrl: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

const COMMON = ["apiKey", "model", "baseUrl", "headers", "maxTokens", "timeoutMs"];
const TEN_MINUTES_MS = 600_000;

/** @throws CONFIG_INVALID */
export function checkOptions(
  options: SdkProviderOptions,
  { owner, reservedHeaders, own }: Rules,
): CheckedOptions {
  const { apiKey, model, baseUrl, headers, maxTokens, timeoutMs = TEN_MINUTES_MS } = options;
  refuseStrangers(`${owner}: `, options, [...COMMON, ...own]);
  if (apiKey !== undefined && !isKey(apiKey))
    throw invalidOption(
      `${owner}: apiKey`,
      "must be a text of printable characters, without spaces or line breaks",
    );
  if (model !== undefined && (typeof model !== "string" || model === ""))
    throw invalidOption(`${owner}: model`, "must be the name of a model");
  if (baseUrl !== undefined && !isHttp(baseUrl))
    throw invalidOption(`${owner}: baseUrl`, "must be an address that begins with http:// or https://");
  checkCount(`${owner}: maxTokens`, maxTokens, 1);
  checkCount(`${owner}: timeoutMs`, timeoutMs, 1);
  return { baseUrl, headers: checkHeaders(owner, headers, reservedHeaders), timeoutMs };
}

/**
 * @param variables of the environment, the first one that is set counts
 * @throws LLM_UNAUTHENTICATED
 */
export function keyOf(provider: string, apiKey: string | undefined, variables: readonly string[]): string {
  const key =
    apiKey ?? variables.map((name) => process.env[name]).find((value) => value !== undefined && value !== "");
  if (key !== undefined && isKey(key)) return key;
  const where = variables.join(" or ");
  throw new LlmError(
    "LLM_UNAUTHENTICATED",
    key === undefined
      ? `There is no key for ${provider}: give the provider an apiKey, or set ${where}.`
      : `The key in ${where} has a space or a line break in it, or another character that no header may have.`,
    { provider },
  );
}

/** Anything else would fail as a header, with the key in the complaint. */
function isKey(value: unknown): boolean {
  return typeof value === "string" && /^[\x21-\x7e]+$/.test(value);
}

function isHttp(value: unknown): boolean {
  return typeof value === "string" && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
}
