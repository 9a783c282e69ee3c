// Scan: the packages installed under a directory, each real directory once.

import { createHash } from "node:crypto";
import type { Dirent } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { basename, join, relative, sep } from "node:path";
import { z } from "zod";
import { readManifest } from "./manifest.js";

export const Package = z.object({
  name: z.string(),
  version: z.string(),
  /** Absolute, with symbolic links resolved. */
  dir: z.string(),
  /** The same relative to the audited directory, with forward slashes. */
  path: z.string(),
});
export type Package = z.infer<typeof Package>;

/** The same package at the same place has the same execution, however often the audit is started. */
export function executionIdOf({ name, version, path }: Package): string {
  // Names come from strangers and the id ends up in a shell command, so only harmless characters remain.
  const readable = `${name}@${version}`.replaceAll(/[^A-Za-z0-9@/._+-]/g, "_").slice(0, 200);
  return `${readable}-${createHash("sha256").update(path).digest("hex").slice(0, 8)}`;
}

export async function hasNodeModules(tree: string): Promise<boolean> {
  return (await stat(join(tree, "node_modules")).catch(() => undefined))?.isDirectory() ?? false;
}

/**
 * All packages below `tree`, nested and scoped ones and pnpm's store included, in the order of their paths. Linked
 * packages are followed to where they really are.
 */
export async function findPackages(tree: string): Promise<Package[]> {
  const root = await realpath(tree);
  const seen = new Set([root]); // a project that links to itself does not depend on itself
  const found: Package[] = [];

  async function visitModules(dir: string): Promise<void> {
    for (const { name } of await entriesOf(dir)) {
      if (name.startsWith("@")) {
        for (const scoped of await entriesOf(join(dir, name)))
          await visitPackage(join(dir, name, scoped.name));
      } else if (name === ".pnpm") {
        for (const stored of await entriesOf(join(dir, name))) {
          const inStore = join(dir, name, stored.name);
          await visitModules(stored.name === "node_modules" ? inStore : join(inStore, "node_modules"));
        }
      } else if (!name.startsWith(".")) await visitPackage(join(dir, name));
    }
  }

  async function visitPackage(link: string): Promise<void> {
    const dir = await realpath(link).catch(() => link);
    if (seen.has(dir)) return;
    seen.add(dir);
    const manifest = await readManifest(dir);
    if (manifest === undefined) return;
    const path = relative(root, dir).replaceAll(sep, "/");
    found.push({ ...identityOf(manifest, basename(dir)), dir, path });
    await visitModules(join(dir, "node_modules"));
  }

  await visitModules(join(root, "node_modules"));
  return found.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

const Identity = z.object({ name: z.string().min(1), version: z.string().min(1) });

/** A package whose manifest is broken is installed all the same, so it is audited under the name of its directory. */
function identityOf(manifest: unknown, directoryName: string): Pick<Package, "name" | "version"> {
  const identity = Identity.safeParse(manifest);
  return identity.success ? identity.data : { name: directoryName, version: "unknown" };
}

async function entriesOf(dir: string): Promise<Dirent[]> {
  return readdir(dir, { withFileTypes: true }).catch(() => []);
}
