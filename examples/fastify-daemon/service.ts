// Service: heddle and its HTTP server as one thing that opens and closes.
//
// Owns       the order of opening and of closing.
//
// V1  Nothing is listened on before the log is open; a service that could not open leaves nothing behind.
// V2  Closing: no new connections, event streams end, requests in hand get their answers, and only then is the log
//     closed. Steps under way have what is left of the deadline; what is cut short goes on at the next opening.
// V3  Closing ends by its deadline, whatever clients and steps do.

import { performance } from "node:perf_hooks";
import Fastify, { type FastifyInstance } from "fastify";
import type { HeddleApp } from "heddle";
import { createApp } from "./app.js";
import { answerErrors } from "./errors.js";
import { EventStreams } from "./events.js";
import type { Options } from "./options.js";
import { routes } from "./routes.js";
import { checkByZod } from "./schemas.js";

/** Requests here take milliseconds. Whoever is not done by then is not sending, or not reading. */
const HTTP_GRACE_MS = 1_000;

export class Service {
  /** Where it listens. */
  readonly url: string;
  readonly #app: HeddleApp;
  readonly #server: FastifyInstance;

  private constructor(app: HeddleApp, server: FastifyInstance, url: string) {
    this.#app = app;
    this.#server = server;
    this.url = url;
  }

  static async open(options: Options): Promise<Service> {
    const { host, port, logLevel } = options;
    const server = Fastify({
      logger: { level: logLevel, stream: process.stderr },
      bodyLimit: 16 * 1024,
      requestTimeout: 30_000,
    });
    const app = createApp(options, server.log);
    try {
      const streams = new EventStreams(app);
      server.addHook("preClose", async () => streams.close());
      answerErrors(server);
      await checkByZod(server).register(routes, { app, streams });
      await app.start();
      return new Service(app, server, await server.listen({ host, port })); // V1
    } catch (error) {
      await server.close();
      await app.close({ deadlineMs: 0 });
      throw error;
    }
  }

  async close(deadlineMs: number): Promise<void> {
    const deadline = performance.now() + deadlineMs;
    const cutOff = setTimeout(
      () => this.#server.server.closeAllConnections(),
      Math.min(HTTP_GRACE_MS, deadlineMs / 2),
    );
    await this.#server.close(); // V2
    clearTimeout(cutOff);
    await this.#app.close({ deadlineMs: Math.max(0, deadline - performance.now()) }); // V3
  }
}
