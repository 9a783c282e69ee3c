// Effects for a pool beside partition threads.

import { threadId } from "node:worker_threads";
import { ToolEffect } from "heddle";

export const effects = { place: new ToolEffect(() => threadId) };
