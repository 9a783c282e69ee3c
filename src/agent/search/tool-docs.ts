// Documents: what rankers are given of tools. No text of third parties is in them, unless the host vouches for it.

import type { ToolDefinition } from "../../kernel/index.js";
import { isThirdParty, vouchedDescription } from "../menu/third-party.js";
import type { ToolDoc } from "./tool-ranker.js";

/** Words the host has for a tool, whoever offers it. */
export interface ToolAnnotation {
  readonly aliases?: readonly string[];
  readonly tags?: readonly string[];
}

export interface ToolSearchDocsOptions {
  /** By the ids of the tools. Of a third party's tool, nothing else is looked into. */
  readonly annotations?: Readonly<Record<string, ToolAnnotation>>;
  /** Whether what third parties say in descriptions is looked into as well. Their tags and aliases never are. Default false. */
  readonly trustJsonSchemaText?: boolean;
}

/** What a ranker gets of a catalog, for rankers that are built once and serve many runs. */
export function toolSearchDocs(
  catalog: readonly ToolDefinition[],
  { annotations = {}, trustJsonSchemaText = false }: ToolSearchDocsOptions = {},
): ToolDoc[] {
  return catalog.map((tool) => {
    const { id } = tool;
    const description = vouchedDescription(tool, trustJsonSchemaText);
    const hosts = Object.hasOwn(annotations, id) ? annotations[id]! : {};
    const authors: ToolAnnotation = isThirdParty(tool) ? {} : tool;
    return {
      id,
      ...(description !== undefined && { description }),
      tags: [...(authors.tags ?? []), ...(hosts.tags ?? [])],
      aliases: [...(authors.aliases ?? []), ...(hosts.aliases ?? [])],
    };
  });
}
