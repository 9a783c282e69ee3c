// What is written against what is there: exports are documented, and pages lead where they say.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import * as heddle from "../../src/index.js";
import * as surface from "../../src/surface/index.js";
import * as testing from "../../src/testing/index.js";

const root = resolve(import.meta.dirname, "../..");
const pages = new Map(
  ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", ...under("docs")].map((page) => [
    page,
    readFileSync(join(root, page), "utf8"),
  ]),
);

function under(folder: string): string[] {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
  return files.filter((file) => file.endsWith(".md")).map((file) => join(folder, file));
}

const withoutCode = (text: string): string => text.replaceAll(/^```[\s\S]*?^```/gm, "");

/** As GitHub makes them. */
function anchorsOf(text: string): Set<string> {
  const headings = withoutCode(text).matchAll(/^#+ (.+)$/gm);
  return new Set(
    [...headings].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

describe("the documentation", () => {
  it("names everything a program can import", () => {
    const guide = [...pages].filter(([page]) => page !== "CHANGELOG.md" && !page.includes("adr"));
    const text = guide.map(([, page]) => page).join("\n");
    const words = new Set(text.match(/[\w$]+/g));
    const names = [heddle, surface, testing].flatMap((entry) => Object.keys(entry));
    expect(names.filter((name) => !words.has(name))).toEqual([]);
  });

  it("has every error code it names", () => {
    const named = [...pages].flatMap(([page, text]) =>
      // The tables of errors: rows whose first cell is codes.
      [...text.matchAll(/^\| (`[A-Z_]+`(?:, `[A-Z_]+`)*) \|/gm)].flatMap(([, cell = ""]) =>
        (cell.match(/[A-Z_]+/g) ?? []).map((code) => `${code} in ${page}`),
      ),
    );
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((name) => !(name.slice(0, name.indexOf(" ")) in heddle.ERROR_CODES))).toEqual([]);
  });

  it("leads to pages, headings and files that are there", () => {
    const broken: string[] = [];
    for (const [page, text] of pages) {
      for (const [, target = ""] of withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^https?:/.test(target)) continue;
        const [path = "", anchor] = target.split("#");
        const file = path === "" ? page : relative(root, resolve(root, dirname(page), path));
        const isThere = existsSync(join(root, file));
        const hasAnchor = anchor === undefined || anchorsOf(pages.get(file) ?? "").has(anchor);
        if (!isThere || !hasAnchor) broken.push(`${page}: ${target}`);
      }
    }
    expect(broken).toEqual([]);
  });

  it("names sources that are there", () => {
    const named = [...pages].flatMap(([page, text]) =>
      [...text.matchAll(/`((?:src|test|bench|examples|scripts|docs)\/[\w./-]+?)`/g)].map(([, file = ""]) => ({
        page,
        file,
      })),
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter(({ file }) => !existsSync(join(root, file)))).toEqual([]);
  });
});
