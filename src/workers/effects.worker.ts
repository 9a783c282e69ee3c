// The entry of the effect pool's threads. Piscina calls `openLane` once for each lane.

export { openLane } from "./pool/thread/open-lane.js";
