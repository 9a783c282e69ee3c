// Options: the environment and the command line.

import { parseArgs } from "node:util";
import { z } from "zod";

const Environment = z.object({
  PORT: z.coerce.number().int().min(0).max(65_535).default(0),
  HOST: z.string().min(1).default("127.0.0.1"),
  DATA_DIR: z.string().min(1).default(".data/refunds"),
  SHUTDOWN_MS: z.coerce.number().int().min(0).default(10_000),
  PAYMENTS_URL: z.union([z.literal(""), z.url()]).default(""),
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("warn"),
});

const FLAGS = {
  help: { type: "boolean", short: "h", default: false },
  threads: { type: "boolean", default: false },
} as const;

export const HELP = `A refund service on heddle and Fastify.

  --threads     runs refunds in a thread of their own, and payments in another
  --help, -h    prints this

Everything else is set by the environment:

  PORT          port to listen on; 0, the default, takes a free one and prints it
  HOST          address to listen on (default 127.0.0.1)
  DATA_DIR      directory of the log, on a local disk (default .data/refunds)
  PAYMENTS_URL  the payment provider; without one, payments are made up
  SHUTDOWN_MS   how long SIGTERM and SIGINT may take to end the process (default 10000)
  LOG_LEVEL     trace, debug, info, warn (the default), error, fatal or silent; logs go to stderr

Exit code: 0 after SIGTERM or SIGINT; 1 when it could not start or stop; 2 for wrong settings.
`;

export interface Options {
  readonly port: number;
  readonly host: string;
  readonly dataDir: string;
  readonly shutdownMs: number;
  readonly logLevel: string;
  /** Whether this thread is left to HTTP. */
  readonly threads: boolean;
}

export type Command =
  | { readonly kind: "serve"; readonly options: Options }
  | { readonly kind: "help" }
  | { readonly kind: "misused"; readonly complaint: string };

export function readCommand(args: string[], environment: NodeJS.ProcessEnv): Command {
  let threads: boolean;
  try {
    const { values } = parseArgs({ args, options: FLAGS });
    if (values.help) return { kind: "help" };
    threads = values.threads;
  } catch (error) {
    return { kind: "misused", complaint: error instanceof Error ? error.message : String(error) };
  }
  const read = Environment.safeParse(environment);
  if (!read.success) return { kind: "misused", complaint: z.prettifyError(read.error) };
  const {
    PORT: port,
    HOST: host,
    DATA_DIR: dataDir,
    SHUTDOWN_MS: shutdownMs,
    LOG_LEVEL: logLevel,
  } = read.data;
  return { kind: "serve", options: { port, host, dataDir, shutdownMs, logLevel, threads } };
}
