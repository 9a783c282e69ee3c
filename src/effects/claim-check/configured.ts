// `execution.claimCheck`: the middleware for the tools that are listed, with a store that is there, and content that stays.

import { checkOptionGroup, invalidOption } from "../../kernel/index.js";
import type { EffectMiddleware } from "../effect.js";
import { type ClaimCheckStore, claimCheckMiddleware, type OffloadEvent } from "./claim-check.js";
import { type Digest, isPreviewLength, previewDigest } from "./digest.js";

export interface ClaimCheckConfig {
  /** Default: the app's own, beside the log. */
  readonly store?: ClaimCheckStore | undefined;
  /** Whose results are put away, and in whose inputs envelopes are resolved. Streams are put away for all tools. */
  readonly toolIds: readonly string[];
  /** Default 16 KiB. */
  readonly inlineCapBytes?: number | undefined;
  /** By tool id; a tool without one gets the preview. */
  readonly digests?: Readonly<Record<string, Digest>> | undefined;
  /** Characters of the result's JSON to keep as digest; false for none. Default 256. */
  readonly preview?: number | false | undefined;
  readonly onOffload?: ((event: OffloadEvent) => void) | undefined;
  /** Whose content a sweep may take though a log has its envelope: true for all. Default: it is kept. */
  readonly reclaimable?: true | readonly string[] | undefined;
}

const OPTIONS = ["store", "toolIds", "inlineCapBytes", "digests", "preview", "onOffload", "reclaimable"];
const PREVIEW_CHARS = 256;

/** @throws CONFIG_INVALID, naming the option behind `where` */
export function checkClaimCheckConfig(where: string, config: unknown): asserts config is ClaimCheckConfig {
  const refuse = (option: string, complaint: string): never => {
    throw invalidOption(`${where}.${option}`, complaint);
  };
  checkOptionGroup(where, config, OPTIONS);
  const given = config as { readonly [option: string]: unknown };
  const { store, toolIds, inlineCapBytes, digests, preview, onOffload, reclaimable } = given;
  if (!isListOfText(toolIds)) refuse("toolIds", "must be a list of tool ids; it may be empty");
  if (store !== undefined && !isStore(store))
    refuse("store", "must be a content store, or be left out for the app's own");
  if (inlineCapBytes !== undefined && !(typeof inlineCapBytes === "number" && inlineCapBytes >= 0))
    refuse("inlineCapBytes", "must be a number of bytes of at least 0");
  if (digests !== undefined && !isRecordOfFunctions(digests))
    refuse("digests", "must hold functions by tool id");
  if (preview !== undefined && preview !== false && !isPreviewLength(preview))
    refuse("preview", "must be a number of characters from 1 to 4,096, or false");
  if (onOffload !== undefined && typeof onOffload !== "function") refuse("onOffload", "must be a function");
  if (reclaimable !== undefined && reclaimable !== true && !isListOfText(reclaimable))
    refuse("reclaimable", "must be true, or a list of tool ids");
}

/** The layer. `store` is asked for when it is needed: it may be made after the ring. */
export function configuredClaimCheck(
  config: ClaimCheckConfig,
  store: () => ClaimCheckStore,
): EffectMiddleware {
  const { toolIds, inlineCapBytes, digests, preview = PREVIEW_CHARS, onOffload, reclaimable = [] } = config;
  const covered = new Set(toolIds);
  return claimCheckMiddleware({
    store: config.store ?? store,
    inlineCapBytes,
    digests,
    defaultDigest: preview === false ? undefined : previewDigest(preview),
    onOffload,
    retain: (toolId) => reclaimable !== true && !reclaimable.includes(toolId),
    passThrough: (_result, toolId) => !covered.has(toolId),
    envelopesAreData: (toolId) => !covered.has(toolId),
  });
}

function isStore(value: unknown): boolean {
  return typeof (value as { readonly put?: unknown } | null)?.put === "function";
}

function isListOfText(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function isRecordOfFunctions(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.values(value).every((item) => typeof item === "function")
  );
}
