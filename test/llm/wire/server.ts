// A real HTTP server that answers as it is told, for providers that think they speak to their vendor.

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface Received {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Record<string, unknown>;
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Written one by one, each on its own. */
  readonly pieces: readonly (string | Uint8Array)[];
  /** What follows the last piece. Default "end". */
  readonly then?: "end" | "breakOff" | "stall";
}

export interface LlmServer {
  readonly url: string;
  readonly received: readonly Received[];
  /** How many requests the other side left before their answer was over. */
  readonly left: () => number;
}

export const json = (body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  pieces: [typeof body === "string" ? body : JSON.stringify(body)],
});

export const sse = (pieces: Reply["pieces"], then: NonNullable<Reply["then"]> = "end"): Reply => ({
  headers: { "content-type": "text/event-stream" },
  pieces,
  then,
});

/** Closed when the test is over. */
export async function llmServer(answer: (received: Received, turn: number) => Reply): Promise<LlmServer> {
  const received: Received[] = [];
  let left = 0;
  const server = createServer((request, response) => {
    response.on("close", () => (left += response.writableFinished ? 0 : 1));
    void serve(request, response, (each) => answer(each, received.push(each)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, received, left: () => left };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  answer: (received: Received) => Reply,
): Promise<void> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk as string;
  const body = JSON.parse(text || "{}") as Record<string, unknown>;
  const {
    status = 200,
    headers,
    pieces,
    then = "end",
  } = answer({ path: request.url ?? "", headers: request.headers, body });
  response.writeHead(status, headers);
  response.socket?.setNoDelay(true);
  for (const piece of pieces) {
    response.write(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (then === "end") response.end();
  if (then === "breakOff") response.socket?.destroy();
}
