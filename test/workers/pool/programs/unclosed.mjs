// A host that uses a pool and forgets to close it.

import { callOf, open } from "./pool.mjs";

const pool = await open();
await pool.call(callOf("echo", 1));
process.stdout.write("done\n");
