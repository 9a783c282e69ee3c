// Inputs: what the effect is called with, from a file of JSON or from stdin.

import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { CommandFailure } from "../failure.js";

export const STDIN = "-";

/** With `each`, the elements of the array are inputs of their own. Throws INPUT_INVALID. */
export async function readInputs(file: string, each: boolean): Promise<readonly unknown[]> {
  const name = file === STDIN ? "stdin" : file;
  const value = parse(await readText(file), name);
  if (!each) return [value];
  if (Array.isArray(value) && value.length > 0) return value as readonly unknown[];
  const found = Array.isArray(value) ? "an empty array" : "no array";
  throw refused(`--each takes the inputs from an array, and ${name} holds ${found}.`);
}

async function readText(file: string): Promise<string> {
  if (file === STDIN) return text(process.stdin);
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT")
      throw refused(`There is no file ${file}.\nGive --input a file of JSON, or - for stdin.`);
    throw refused(`${file} cannot be read: ${(error as Error).message}`);
  }
}

function parse(json: string, name: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch (error) {
    throw refused(`What ${name} holds is no JSON: ${(error as Error).message}`);
  }
}

function refused(message: string): CommandFailure {
  return new CommandFailure(1, message, "INPUT_INVALID");
}
