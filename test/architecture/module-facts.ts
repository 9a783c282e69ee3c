// What the architecture rules need to know about one source file, read from its syntax tree, so that a word in a
// comment or a string is never mistaken for a use.

import { parseSync } from "vite";

export interface ImportFact {
  readonly specifier: string;
  readonly line: number;
  /** Imported when that code runs, not when the file is loaded. */
  readonly isOnDemand: boolean;
}

/** A global reached from the file: `Date.now`, `setTimeout`, `console.log`, `new Date()`. */
export interface GlobalUse {
  readonly name: string;
  readonly line: number;
}

export interface ModuleFacts {
  readonly imports: readonly ImportFact[];
  readonly globals: readonly GlobalUse[];
  /** Lines of `export * from`, which hides what a door opens on. */
  readonly exportAllLines: readonly number[];
}

type Node = { readonly type: string; readonly start: number } & Readonly<Record<string, unknown>>;

/** Properties that only name something: an identifier there is not a reference to a global of that name. */
const NAMING: Readonly<Record<string, string>> = {
  MemberExpression: "property",
  Property: "key",
  MethodDefinition: "key",
  PropertyDefinition: "key",
  TSPropertySignature: "key",
  TSMethodSignature: "key",
};

/** Types run nothing: `ReturnType<typeof setTimeout>` is fine where calling it is not. */
const TYPE_ONLY = new Set(["TSTypeQuery", "TSTypeReference", "TSInterfaceHeritage"]);

const GLOBAL_OBJECTS = new Set(["globalThis", "global"]);

export function readModule(file: string, text: string): ModuleFacts {
  const parsed = parseSync(file, text, { lang: "ts", sourceType: "module" });
  const problem = parsed.errors[0];
  if (problem !== undefined) throw new SyntaxError(`${file}: ${problem.message}`);

  const imports: ImportFact[] = [];
  const globals: GlobalUse[] = [];
  const exportAllLines: number[] = [];
  const lineOf = lineCounter(text);

  const visit = (node: Node): void => {
    const line = lineOf(node.start);
    const specifier = importedSpecifier(node);
    if (specifier !== undefined)
      imports.push({ specifier, line, isOnDemand: node.type === "ImportExpression" });
    if (node.type === "ExportAllDeclaration" && node["exported"] === null) exportAllLines.push(line);
    for (const name of globalsAt(node)) globals.push({ name, line });

    for (const [key, value] of Object.entries(node)) {
      if (NAMING[node.type] === key && node["computed"] !== true) continue;
      for (const child of Array.isArray(value) ? (value as readonly unknown[]) : [value]) {
        if (isNode(child) && !TYPE_ONLY.has(child.type)) visit(child);
        // An imported type is still an arrow between two files, wherever it is written.
        else if (isNode(child)) visitTypes(child);
      }
    }
  };

  const visitTypes = (node: Node): void => {
    const specifier = importedSpecifier(node);
    if (specifier !== undefined) imports.push({ specifier, line: lineOf(node.start), isOnDemand: false });
    for (const value of Object.values(node)) {
      for (const child of Array.isArray(value) ? (value as readonly unknown[]) : [value]) {
        if (isNode(child)) visitTypes(child);
      }
    }
  };

  for (const statement of parsed.program.body) {
    if (isNode(statement)) visit(statement);
  }
  return { imports, globals, exportAllLines };
}

function importedSpecifier(node: Node): string | undefined {
  switch (node.type) {
    case "ImportDeclaration":
    case "ExportNamedDeclaration":
    case "ExportAllDeclaration":
    case "ImportExpression":
    case "TSImportType":
      return literalText(node["source"]);
    default:
      return undefined;
  }
}

function globalsAt(node: Node): readonly string[] {
  switch (node.type) {
    case "Identifier":
      return [String(node["name"])];
    case "MemberExpression": {
      const owner = globalName(node["object"]);
      const property = memberName(node);
      return owner === undefined || property === undefined ? [] : [`${owner}.${property}`];
    }
    case "NewExpression": {
      const argumentCount = (node["arguments"] as readonly unknown[]).length;
      return globalName(node["callee"]) === "Date" && argumentCount === 0 ? ["new Date()"] : [];
    }
    // `const { now } = Date` and `import { randomUUID } from "node:crypto"` are uses under another name.
    case "VariableDeclarator": {
      const owner = globalName(node["init"]);
      return owner === undefined ? [] : destructuredNames(node["id"]).map((name) => `${owner}.${name}`);
    }
    case "ImportSpecifier":
      return isNode(node["imported"]) ? [String(node["imported"]["name"])] : [];
    default:
      return [];
  }
}

/** `Date` for both `Date` and `globalThis.Date`. */
function globalName(value: unknown): string | undefined {
  if (!isNode(value)) return undefined;
  if (value.type === "Identifier") return String(value["name"]);
  if (value.type !== "MemberExpression") return undefined;
  const owner = globalName(value["object"]);
  return owner !== undefined && GLOBAL_OBJECTS.has(owner) ? memberName(value) : undefined;
}

function memberName(member: Node): string | undefined {
  const property = member["property"];
  if (!isNode(property)) return undefined;
  if (member["computed"] === true) return literalText(property);
  return property.type === "Identifier" ? String(property["name"]) : undefined;
}

function destructuredNames(pattern: unknown): readonly string[] {
  if (!isNode(pattern) || pattern.type !== "ObjectPattern") return [];
  return (pattern["properties"] as readonly unknown[]).flatMap((property) => {
    if (!isNode(property) || !isNode(property["key"])) return [];
    return property["key"].type === "Identifier" ? [String(property["key"]["name"])] : [];
  });
}

function literalText(value: unknown): string | undefined {
  return isNode(value) && value.type === "Literal" && typeof value["value"] === "string"
    ? value["value"]
    : undefined;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

function lineCounter(text: string): (offset: number) => number {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (offset) => {
    const next = starts.findIndex((start) => start > offset);
    return next === -1 ? starts.length : next;
  };
}
