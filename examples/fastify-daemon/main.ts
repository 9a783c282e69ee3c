// Fastify daemon: a service that takes refunds over HTTP and sees each of them through, whatever happens to the process.
// README.md has the requests to try; `--help` the settings.
//
//   refund, flows, effects        what happens to a refund
//   app, service                  heddle and Fastify, composed, opened and closed
//   routes, events, views         the HTTP interface
//   errors, schemas               what a request may look like, and what is said when it does not
//   options                       the environment
//
// The process belongs to this program: heddle handles no signals, writes nothing to stdout and never ends a process.

import { HeddleError } from "heddle";
import { HELP, type Options, readCommand } from "./options.js";
import { Service } from "./service.js";

const FAILED = 1;
const MISUSED = 2;

const command = readCommand(process.argv.slice(2), process.env);
switch (command.kind) {
  case "help":
    process.stdout.write(HELP);
    break;
  case "misused":
    process.stderr.write(`${command.complaint}\n\n${HELP}`);
    process.exitCode = MISUSED;
    break;
  case "serve":
    await serve(command.options).catch((error: unknown) => {
      process.stderr.write(`${describe(error)}\n`);
      process.exitCode = FAILED;
    });
}

/** Resolves when the service has been told to stop and is closed. Nothing is left then, so the process ends by itself. */
async function serve(options: Options): Promise<void> {
  // Listened for from the beginning: a signal that comes while the log is being opened is obeyed as soon as it is open.
  // Repeated signals change nothing (a terminal and npm both pass Ctrl-C on); the deadline holds anyway.
  const stopped = new Promise<NodeJS.Signals>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, resolve);
  });
  const service = await Service.open(options);
  process.stdout.write(`listening on ${service.url}\n`);
  process.stdout.write(`stopping: ${await stopped}\n`);
  await service.close(options.shutdownMs);
  process.stdout.write("stopped\n");
}

/** heddle's messages say what happened and what to do. Of anything else the stack says where it came from. */
function describe(error: unknown): string {
  if (error instanceof HeddleError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
