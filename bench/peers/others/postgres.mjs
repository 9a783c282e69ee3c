// Postgres: a database of our own, on the server PGURL names, or on a private one that lives as long as this process.

import { execFileSync, spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import pg from "pg";
import { freePort, startServer } from "./server.mjs";

const DATABASE = "heddle_bench_peers";
const SETTINGS = ["fsync", "synchronous_commit", "wal_sync_method", "full_page_writes"];

/** `undefined`: there is no server to be had. */
export async function openPostgres() {
  const server = process.env.PGURL ? { url: process.env.PGURL, end: async () => {} } : await privateServer();
  if (!server) return undefined;
  await query(server.url, `DROP DATABASE IF EXISTS ${DATABASE}`);
  const [{ server_version: version }] = await query(server.url, "SHOW server_version");
  const settings = [];
  for (const name of SETTINGS)
    settings.push(`${name} ${Object.values((await query(server.url, `SHOW ${name}`))[0])[0]}`);
  const url = new URL(server.url);
  url.pathname = `/${DATABASE}`;
  return {
    url: url.href,
    version: version.split(" ")[0],
    settings,
    isFlushed: settings.includes("fsync on") && settings.includes("synchronous_commit on"),
    async close() {
      await query(server.url, `DROP DATABASE IF EXISTS ${DATABASE} WITH (FORCE)`);
      await server.end();
    },
  };
}

async function privateServer() {
  const programs = programsFolder();
  if (!programs) return undefined;
  const directory = mkdtempSync(join(tmpdir(), "heddle-bench-postgres-"));
  const remove = () => rmSync(directory, { recursive: true, force: true });
  process.once("exit", remove);
  const owner = ownerOf(directory);
  const data = join(directory, "data");
  execFileSync(join(programs, "initdb"), ["-D", data, "-U", "postgres", "--auth=trust"], {
    ...owner,
    stdio: "ignore",
  });
  const port = await freePort();
  const settings = [`port=${port}`, "listen_addresses=127.0.0.1", `unix_socket_directories=${directory}`];
  const server = startServer(
    join(programs, "postgres"),
    ["-D", data, ...settings.flatMap((setting) => ["-c", setting])],
    { ...owner, ending: "SIGINT" },
  );
  const url = `postgresql://postgres@127.0.0.1:${port}/postgres`;
  await server.ready(async () => (await query(url, "SELECT 1")).length === 1);
  return { url, end: () => server.end().then(remove) };
}

/** Debian keeps them out of the PATH, one folder a version. */
function programsFolder() {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...(process.env.PATH ?? "").split(delimiter),
    ...versions.map((version) => join(debian, version, "bin")),
  ];
  return folders.find((folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "postgres")));
}

/** PostgreSQL refuses to run as root: then it runs as the user its package made, or as nobody. */
function ownerOf(directory) {
  if (process.getuid?.() !== 0) return {};
  const user = ["postgres", "nobody"].find((name) => spawnSync("id", ["-u", name]).status === 0);
  const idOf = (flag) => Number(execFileSync("id", [flag, user], { encoding: "utf8" }));
  const owner = { uid: idOf("-u"), gid: idOf("-g") };
  chownSync(directory, owner.uid, owner.gid);
  return { ...owner, cwd: directory };
}

async function query(url, text) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
