// Source places: which line of TypeScript a compiled call stands for, and whose it is.

import { existsSync, readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { dirname, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { Owner, Place, PlaceOf } from "./call-tree.js";

/** Paths are told from `root`. */
export function sourcePlaces(root: string): PlaceOf {
  const maps = new Map<string, SourceMap | undefined>();
  return ({ url, functionName, lineNumber, columnNumber }) => {
    if (url === "") return { owner: "engine", where: functionName };
    if (!url.startsWith("file:")) return { owner: "node", where: `${url}:${lineNumber + 1}` };
    const file = fileURLToPath(url);
    if (!maps.has(file)) maps.set(file, mapOf(file));
    const entry = maps.get(file)?.findEntry(lineNumber, columnNumber);
    const isMapped = entry !== undefined && "originalSource" in entry;
    const source = isMapped ? sourceOf(file, entry.originalSource) : file;
    const line = isMapped ? entry.originalLine : lineNumber;
    return placed(relative(root, source).split(sep).join("/"), line + 1);
  };
}

function placed(path: string, line: number): Place {
  const inPackages = path.lastIndexOf("node_modules/");
  if (inPackages >= 0) return { owner: "package", where: `${path.slice(inPackages + 13)}:${line}` };
  const owner: Owner = path.startsWith("bench/") ? "bench" : "heddle";
  return { owner, where: `${path}:${line}` };
}

function sourceOf(file: string, source: string): string {
  return source.startsWith("file:") ? fileURLToPath(source) : resolve(dirname(file), source);
}

function mapOf(file: string): SourceMap | undefined {
  const path = `${file}.map`;
  if (file.includes("node_modules") || !existsSync(path)) return undefined;
  return new SourceMap(JSON.parse(readFileSync(path, "utf8")) as SourceMapPayload);
}
