// Installed: which version of a package is in this folder. Not by `require`: some packages keep their manifest to themselves.

import { readFileSync } from "node:fs";

export function versionOf(name) {
  return JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url), "utf8"))
    .version;
}
