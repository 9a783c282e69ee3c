// RetryLater: how a middleware asks for another attempt. The attempt ends; that it failed and when the next one is due are
// recorded, and a restart in between goes on counting. It never leaves the ring.

export class RetryLater extends Error {
  override name = "RetryLater";
  /** What the attempt failed with. */
  readonly failure: unknown;
  readonly delayMs: number;

  constructor(failure: unknown, delayMs: number) {
    super("The attempt is to be made again.");
    this.failure = failure;
    this.delayMs = delayMs;
  }
}
