#!/usr/bin/env node
// The command line's root: the process on one side, the program on the other.

import { run } from "./program.js";
import { Terminal } from "./terminal.js";

const terminal = new Terminal(process);
let interrupted: 130 | 143 | undefined;
// Once each: who asks twice is obeyed at once.
process.once("SIGINT", () => {
  interrupted = 130;
  terminal.stop();
});
process.once("SIGTERM", () => {
  interrupted = 143;
  terminal.stop();
});

const exitCode = await run(process.argv.slice(2), terminal);
process.exitCode = interrupted ?? exitCode;
