// License: which licence a package says it has. Its manifest is believed when it names one; otherwise the licence file
// is read, and a text that is known is given its SPDX name.

import { open, readdir } from "node:fs/promises";
import { isAbsolute, join, normalize } from "node:path";
import parseSpdx from "spdx-expression-parse";
import { z } from "zod";
import { recogniseLicense } from "./license-texts.js";
import { readManifest } from "./manifest.js";

export const LicenseFinding = z.discriminatedUnion("source", [
  z.object({ source: z.literal("package.json"), expression: z.string() }),
  z.object({ source: z.literal("file"), expression: z.string(), file: z.string() }),
  /** No licence that has an SPDX name; `found` says in words what there was instead. */
  z.object({ source: z.literal("none"), found: z.string() }),
]);
export type LicenseFinding = z.infer<typeof LicenseFinding>;

export async function findLicense(dir: string): Promise<LicenseFinding> {
  const declared = declaredIn(await readManifest(dir));
  switch (declared.kind) {
    case "expression":
      return { source: "package.json", expression: declared.expression };
    case "reserved":
      return { source: "none", found: "package.json says UNLICENSED: all rights reserved" };
    case "inFile":
      return (
        (await recogniseFile(dir, declared.file)) ?? {
          source: "none",
          found: `package.json refers to ${declared.file}, whose text is not a known licence`,
        }
      );
    case "words":
    case "nothing": {
      const files = await licenseFilesOf(dir);
      for (const file of files) {
        const finding = await recogniseFile(dir, file);
        if (finding) return finding;
      }
      const says =
        declared.kind === "words"
          ? `package.json says ${JSON.stringify(declared.words)}`
          : "package.json says nothing";
      const shows =
        files.length > 0
          ? `the text of ${files.join(" and ")} is not a known licence`
          : "there is no licence file";
      return { source: "none", found: `${says}, and ${shows}` };
    }
  }
}

/** What a manifest says about the licence, in all the forms that npm has allowed over the years. */
type Declared =
  | { readonly kind: "expression"; readonly expression: string }
  | { readonly kind: "inFile"; readonly file: string }
  | { readonly kind: "words"; readonly words: string }
  | { readonly kind: "reserved" | "nothing" };

const OneLicense = z.union([
  z.string(),
  z.object({ type: z.string() }).transform(({ type }) => type),
  z.object({ name: z.string() }).transform(({ name }) => name),
]);
const LicenseField = z.union([OneLicense.transform((one) => [one]), z.array(OneLicense)]).catch([]);
const Manifest = z.object({ license: LicenseField, licenses: LicenseField });

function declaredIn(manifest: unknown): Declared {
  const parsed = Manifest.safeParse(manifest);
  const names = parsed.success ? [...parsed.data.license, ...parsed.data.licenses] : [];
  const [only] = names;
  if (only === undefined) return { kind: "nothing" };
  if (names.length > 1) {
    // The old `licenses` list was a choice. It is one here too, provided that every entry can be understood.
    const all = names.map((name) => expressionOf(name));
    if (all.every((one) => one !== undefined))
      return { kind: "expression", expression: all.map(bracketed).join(" OR ") };
    return { kind: "words", words: names.join(", ") };
  }
  const text = only.trim();
  const file = /^see licen[cs]e in (.+)$/i.exec(text)?.[1];
  if (file !== undefined) return { kind: "inFile", file };
  if (text === "UNLICENSED") return { kind: "reserved" };
  if (text === "") return { kind: "nothing" };
  const expression = expressionOf(text);
  return expression === undefined ? { kind: "words", words: text } : { kind: "expression", expression };
}

/** Names from before SPDX that can only mean one licence. "BSD" is not among them: there are several. */
const OLD_NAMES: Readonly<Record<string, string>> = {
  "apache 2.0": "Apache-2.0",
  "apache license 2.0": "Apache-2.0",
  "apache license, version 2.0": "Apache-2.0",
  apache2: "Apache-2.0",
  apachev2: "Apache-2.0",
  "mit license": "MIT",
  "the mit license": "MIT",
  "mit/x11": "MIT",
  "new bsd": "BSD-3-Clause",
  "simplified bsd": "BSD-2-Clause",
  gplv2: "GPL-2.0",
  gplv3: "GPL-3.0",
  lgplv3: "LGPL-3.0",
  "mpl 2.0": "MPL-2.0",
  "public domain": "LicenseRef-public-domain",
};

function expressionOf(name: string): string | undefined {
  const candidate = OLD_NAMES[name.trim().toLowerCase()] ?? name.trim();
  try {
    parseSpdx(candidate);
    return candidate;
  } catch {
    return undefined;
  }
}

function bracketed(expression: string): string {
  return expression.includes(" ") ? `(${expression})` : expression;
}

async function licenseFilesOf(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && /^(un)?licen[cs]es?([.-]|$)|^copying([.-]|$)/i.test(entry.name))
    .map((entry) => entry.name)
    .toSorted();
}

/** Longer than any licence; what comes after it is somebody else's. */
const TEXT_BYTES_MAX = 256 * 1024;

async function recogniseFile(dir: string, file: string): Promise<LicenseFinding | undefined> {
  const path = normalize(file);
  if (isAbsolute(path) || path.startsWith("..")) return undefined; // a stranger's manifest must not point out of its package
  const text = await readStart(join(dir, path));
  const expression = text === undefined ? undefined : recogniseLicense(text);
  return expression === undefined ? undefined : { source: "file", expression, file };
}

async function readStart(path: string): Promise<string | undefined> {
  const file = await open(path).catch(() => undefined);
  if (!file) return undefined;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(TEXT_BYTES_MAX), 0, TEXT_BYTES_MAX, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } catch {
    return undefined; // a directory of that name, for example
  } finally {
    await file.close();
  }
}
