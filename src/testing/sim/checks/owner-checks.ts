// OwnerChecks: W1. One owner at a time writes a partition; each has an epoch higher than all before it, and what is written bears
// the latest one.

import { type Observation, type Observer, Violation } from "../observation.js";

export class OwnerChecks implements Observer {
  readonly #epochs = new Map<number, { readonly epoch: number; readonly process: string }>();

  see(observation: Observation): void {
    if (observation.kind === "opened") {
      const { partition, epoch, process } = observation;
      const before = this.#epochs.get(partition)?.epoch ?? 0;
      if (epoch <= before)
        throw new Violation("W1", `partition ${partition} is opened with epoch ${epoch} after ${before}.`);
      this.#epochs.set(partition, { epoch, process });
    }
    if (observation.kind === "written") {
      const { partition, epoch, process } = observation;
      const owner = this.#epochs.get(partition);
      if (owner?.epoch !== epoch || owner.process !== process)
        throw new Violation(
          "W1",
          `${process} wrote to partition ${partition}, which ${owner?.process ?? "nobody"} owns.`,
        );
    }
  }
}
