// A host that does nothing but wait for a call.

import { callOf, open } from "./pool.mjs";

const pool = await open();
void pool
  .call(callOf("sleep", { ms: 600, value: "slept" }))
  .then((value) => process.stdout.write(`${value}\n`));
