// ToolMenu: the tools a model may call, in the order in which it was told of them.
//
// Owns       names, which are legal with every provider, and the specs as they were first told.
// Leaves     which tools join, and recording them, to whoever adds them.
//
// M1  It only grows, at its end: the request of each turn begins as that of the turn before, and stays in a provider's cache.
// M2  What is told of a tool is what the log has. A tool that has other words or another schema by now is called as before, and
//     said to be changed; no model hears of the new ones.
// M3  A tool that is gone keeps its place. A call of it is a step that fails, as the log may hold one that did not.

import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { TaskKind, ToolDefinition } from "../../kernel/index.js";
import type { LlmToolSpec } from "../../llm/index.js";
import { specOf } from "./tool-spec.js";

/** A line of the menu, as the log has it. */
export interface MenuEntry {
  readonly spec: LlmToolSpec;
  /** Absent for what the loop answers itself. */
  readonly tool?: { readonly id: string; readonly kind: TaskKind };
}

/** A tool that is not what the log says the model was told. */
export interface ToolChange {
  readonly toolId: string;
  /** What the model was told, and goes on being told. */
  readonly told: LlmToolSpec;
  /** What it would be told now. Absent: there is no such tool any more. */
  readonly now?: LlmToolSpec;
}

export interface ToolMenuOptions {
  /** Every tool that may come to be on the menu, by its id. */
  readonly tools: ReadonlyMap<string, ToolDefinition>;
  /** Whether what third parties say of their tools is believed. */
  readonly trust: boolean;
  /** Told of each changed tool as it joins. */
  readonly onChange: (change: ToolChange) => void;
}

export class ToolMenu {
  readonly #options: ToolMenuOptions;
  #specs: readonly LlmToolSpec[] = [];
  readonly #byName = new Map<string, ToolDefinition>();
  readonly #changes = new Map<string, ToolChange>();
  readonly #ids = new Set<string>();

  constructor(options: ToolMenuOptions) {
    this.#options = options;
  }

  /** Another list when it has grown: a request may keep it. */
  get specs(): readonly LlmToolSpec[] {
    return this.#specs;
  }

  /** Of its specs, as JSON. Counted when somebody asks. */
  get chars(): number {
    return this.#specs.reduce((sum, spec) => sum + charsOf(spec), 0);
  }

  has(toolId: string): boolean {
    return this.#ids.has(toolId);
  }

  /** Under the name the model was told. */
  find(name: string): ToolDefinition | undefined {
    return this.#byName.get(name);
  }

  changeOf(toolId: string): ToolChange | undefined {
    return this.#changes.get(toolId);
  }

  /**
   * What the tools would be on the menu, in their order, without those that are there already. Nothing joins by this.
   *
   * @param before what will have joined before them
   * @param charsMax of all specs with these, as JSON. A tool that would go beyond is left out. Default: no limit
   * @throws CONFIG_INVALID for a tool whose input is no object
   */
  offer(
    tools: readonly ToolDefinition[],
    {
      before = [],
      charsMax = Infinity,
    }: { before?: readonly LlmToolSpec[]; charsMax?: number | undefined } = {},
  ): readonly MenuEntry[] {
    const taken = new Set([...this.#specs, ...before].map(({ name }) => name));
    const ids = new Set(this.#ids);
    const isBounded = charsMax !== Infinity;
    let room = isBounded ? charsMax - this.chars : Infinity;
    return tools.flatMap((tool): readonly MenuEntry[] => {
      const { id, kind } = tool;
      if (ids.has(id)) return [];
      const spec = specOf(tool, nameFor(id, taken), this.#options.trust);
      const chars = isBounded ? charsOf(spec) : 0;
      if (chars > room) return [];
      room -= chars;
      ids.add(id);
      taken.add(spec.name);
      return [{ spec, tool: { id, kind } }];
    });
  }

  /** Lets entries join, as the log has them. */
  add(entries: readonly MenuEntry[]): void {
    this.#specs = [...this.#specs, ...entries.map(({ spec }) => spec)];
    for (const { spec, tool } of entries) {
      if (!tool) continue;
      const { id, kind } = tool;
      const definition = this.#options.tools.get(id);
      this.#ids.add(id);
      this.#byName.set(spec.name, definition ?? gone(id, kind));
      this.#compare(id, spec, definition);
    }
  }

  /** M2 */
  #compare(toolId: string, told: LlmToolSpec, tool: ToolDefinition | undefined): void {
    const now = tool && specOf(tool, told.name, this.#options.trust);
    if (now && isDeepStrictEqual(now, told)) return;
    const change = { toolId, told, ...(now && { now }) };
    this.#changes.set(toolId, change);
    this.#options.onChange(change);
  }
}

/** M3: of any input, so that a call the log holds is made again as it was. */
function gone(id: string, kind: TaskKind): ToolDefinition {
  const anything = z.unknown();
  return {
    id,
    name: id,
    description: "",
    kind,
    toolId: id,
    inputSchema: anything,
    outputSchema: anything,
  };
}

function charsOf(spec: LlmToolSpec): number {
  return JSON.stringify(spec).length;
}

/** What every provider takes for the name of a function. */
const NAME_LENGTH_MAX = 64;

/** The id where it is a name, or one like it: `mcp:ops:run_sql` is called `mcp_ops_run_sql`. */
function nameFor(id: string, taken: ReadonlySet<string>): string {
  const like = id.replace(/[^A-Za-z0-9_-]+/g, "_").slice(0, NAME_LENGTH_MAX);
  let name = like;
  for (let copy = 2; taken.has(name); copy++) {
    const suffix = `_${copy}`;
    name = like.slice(0, NAME_LENGTH_MAX - suffix.length) + suffix;
  }
  return name;
}
