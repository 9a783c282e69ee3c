import { HeddleError } from "../errors.js";

/**
 * What a commit gets after one that failed. Its records may follow on from ones that were never written, so nothing is
 * taken until an empty commit, the probe, tells that its caller knows of the failure and that writing works again.
 */
export function refusedAfter(failure: unknown, where: string): HeddleError {
  return new HeddleError(
    "STORAGE_FAILED",
    `${where} takes no more commits since one failed. Go back to what was acknowledged, then probe with an empty commit.`,
    { cause: failure },
  );
}

export function storeClosed(where: string): HeddleError {
  return new HeddleError("STORAGE_FAILED", `${where} is closed. Open it again to go on.`);
}
