// The agent: its tools, as a model is told of them, and what runs when it calls one. What packages say of themselves was written by
// strangers, so it is marked: it reaches the model behind a fence, and can ask for nothing.

import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { agent$, type EffectRuntime, ToolEffect, tainted, tool$ } from "heddle";
import { z } from "zod";
import { listPackages, readChangelog, readLicense, searchFiles } from "./packages.js";

const anything = z.unknown();
const OfPackage = z.object({ name: z.string().describe("as list_packages gives it") });
const Search = OfPackage.extend({ text: z.string().min(2).max(100) });
const Limit = z.object({ limit: z.number().int().min(1).max(50).default(10) });
export const Change = z.object({
  name: z.string().describe("the package it is about"),
  change: z.enum(["upgrade", "replace", "remove", "pin"]),
  reason: z.string().max(500),
});
export type Change = z.infer<typeof Change>;

const tools = [
  tool$({
    id: "list_packages",
    description: "Lists installed packages by path, and how many there are",
    inputSchema: Limit,
    outputSchema: anything,
  }),
  tool$({
    id: "read_license",
    description: "Says which licence a package has, and where that is written",
    inputSchema: OfPackage,
    outputSchema: anything,
  }),
  tool$({
    id: "read_changelog",
    description: "Gives the beginning of a package's changelog",
    inputSchema: OfPackage,
    outputSchema: anything,
  }),
  tool$({
    id: "search_files",
    description: "Finds lines with a text in the files at the top of a package",
    inputSchema: Search,
    outputSchema: anything,
  }),
  tool$({
    id: "propose_change",
    description: "Writes down a change to the dependencies. Somebody has to approve it first",
    inputSchema: Change,
    outputSchema: anything,
  }),
];

export const triageAgent = agent$({
  id: "triage",
  name: "Dependency triage",
  description: "Looks through installed packages and proposes what to do about them",
  systemPrompt:
    "You triage the dependencies of a project. List packages, look at licences, changelogs and files of a few of them, then " +
    "propose at most one change by propose_change, and answer in a few sentences.",
  tools,
});

/** What the tools run, on one tree. */
export function registerTools(effects: EffectRuntime, tree: string, proposals: string): void {
  effects.register(
    "list_packages",
    new ToolEffect(({ limit }: z.infer<typeof Limit>) => listPackages(tree, limit)),
  );
  effects.register("read_license", new ToolEffect(({ name }: { name: string }) => readLicense(tree, name)));
  effects.register(
    "read_changelog",
    new ToolEffect(async ({ name }: { name: string }) =>
      tainted((await readChangelog(tree, name)) ?? "There is none.", `npm:${name}`),
    ),
  );
  effects.register(
    "search_files",
    new ToolEffect(async ({ name, text }: z.infer<typeof Search>) =>
      tainted(await searchFiles(tree, name, text), `npm:${name}`),
    ),
  );
  effects.register(
    "propose_change",
    new ToolEffect(async (change: Change, { idempotencyKey }) => {
      // The file is named after the call, and appears whole or not at all: a call that runs again writes the same one.
      const file = join(proposals, `${idempotencyKey.replaceAll(/[^\w.-]+/g, "-")}.json`);
      await writeFile(`${file}.new`, `${JSON.stringify(change, undefined, 2)}\n`, { flush: true });
      await rename(`${file}.new`, file);
      return { written: true };
    }),
  );
}
