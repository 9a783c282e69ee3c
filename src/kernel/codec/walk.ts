import type { PathSegment } from "./refusal.js";
import type { Wire } from "./special.js";

/** What the copying of built-in classes needs of the walk over a value. */
export interface Walk {
  /** Between these two, `copyPart` means parts of the object in hand. */
  enter(): void;
  leave(): void;
  /** Copies a part of the object in hand. `segment` is the way to it, kept for messages only. */
  copyPart(segment: PathSegment, value: unknown): Wire;
  /** Adds the enumerable properties of an object as `key, value, key, value`. Enters and leaves by itself. */
  entries(value: object, parts: Wire[]): void;
  text(value: string): Wire;
  /** Counts bytes before they are copied; throws when there are too many. */
  spend(bytes: number): void;
  /** The error to throw for a value that cannot be recorded. */
  refuse(value: unknown, kind?: string, advice?: string): Error;
}
