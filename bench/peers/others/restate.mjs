// Restate: a server that keeps the journals, and a service in this process that it calls.

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as restate from "@restatedev/restate-sdk";
import * as clients from "@restatedev/restate-sdk-clients";
import { versionOf } from "./installed.mjs";
import { freePort, startServer } from "./server.mjs";

const PACKAGE = `@restatedev/restate-server-${process.platform}-${process.arch}`;
const PARTITIONS = 24;

export async function open(directory) {
  const program = fileURLToPath(new URL(`node_modules/${PACKAGE}/bin/restate-server`, import.meta.url));
  if (!existsSync(program))
    return { skipped: `there is no ${PACKAGE}: its server is not built for this machine` };
  const [ingress, admin, node, service] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const env = {
    ...process.env,
    TMPDIR: directory, // its invoker leaves folders there when it is ended at once
    RESTATE_DISABLE_TELEMETRY: "true",
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
    RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
    RESTATE_LOG_FILTER: "error",
  };
  const args = ["--base-dir", directory, "--node-name", "bench", "--listen-mode", "tcp", "--no-logo"];
  args.push("--default-num-partitions", String(PARTITIONS));
  const server = startServer(program, args, { env });
  const oneStep = restate.service({
    name: "oneStep",
    handlers: { run: (ctx, { n }) => ctx.run("s0", () => ({ ok: true, n })) },
  });
  await restate.serve({ services: [oneStep], port: service, logger: () => {} });
  await server.ready(() => register(admin, service));
  const client = clients.connect({ url: `http://127.0.0.1:${ingress}` }).serviceClient(oneStep);
  await server.ready(async () => (await client.run({ n: 0 })).ok);
  const flush = settingsOf(program, [...args, "--dump-config"], env);
  return {
    version: `${versionOf("@restatedev/restate-server")}, SDK ${versionOf("@restatedev/restate-sdk")}`,
    durability: flush.length > 0 && flush.every((setting) => setting.endsWith("false")) ? "flush" : "commit",
    evidence: [...new Set(flush)].join(", "),
    configuration: `one server on this machine with ${PARTITIONS} partitions, called over HTTP; the service in the caller's process`,
    run: (order) => client.run(order),
    close: () => server.end(),
  };
}

/** Whether it did. The service is found by the server, so the server must be up. */
async function register(admin, service) {
  const { ok } = await fetch(`http://127.0.0.1:${admin}/deployments`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ uri: `http://127.0.0.1:${service}` }),
  });
  return ok;
}

/** What the configuration says about its write-ahead logs. */
function settingsOf(program, args, env) {
  const text = execFileSync(program, args, { env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  return text.match(/^rocksdb-disable-wal(-fsync)? = \w+/gm) ?? [];
}
