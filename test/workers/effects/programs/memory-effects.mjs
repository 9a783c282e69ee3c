// Large results, and what their making cost the thread: its own peak comes back in the digest.

import { streamResult, ToolEffect } from "heddle";

const MEGABYTE = 1024 * 1024;

export const effects = {
  dump: new ToolEffect(({ megabytes }) => {
    const before = process.memoryUsage();
    let peak = 0;
    const pour = async function* () {
      for (let n = 0; n < megabytes * 16; n++) {
        const { heapUsed, external } = process.memoryUsage();
        peak = Math.max(peak, heapUsed + external - before.heapUsed - before.external);
        yield Buffer.alloc(MEGABYTE / 16, n);
      }
    };
    return streamResult(pour(), { digest: () => ({ threadPeak: peak }) });
  }),
  invert: new ToolEffect((bytes) => {
    for (let n = 0; n < bytes.length; n += 4096) bytes[n] ^= 0xff;
    return bytes;
  }),
};
