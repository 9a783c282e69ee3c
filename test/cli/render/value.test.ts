import { describe, expect, it } from "vitest";
import { shortValue } from "../../../src/cli/render/value.js";
import { toWire } from "../../../src/kernel/codec/index.js";

const ref = `sha256:0123456789abcdef${"0".repeat(48)}`;
const envelope = { __loomClaimCheck: true, ref, size: 1_234_567 };

describe("an envelope on one line", () => {
  it("says how much was put away, where, and what was kept of it", () => {
    expect(shortValue(toWire(envelope), 80)).toBe("put away: 1,234,567 bytes, sha256:0123456789ab");
    expect(shortValue(toWire({ ...envelope, contentType: "text/csv", digest: { rows: 3 } }), 80)).toBe(
      "put away: 1,234,567 bytes of text/csv, sha256:0123456789ab, { rows: 3 }",
    );
  });

  it("stays within the line", () => {
    const wordy = { ...envelope, contentType: "x".repeat(200), digest: "y".repeat(200) };
    for (const charsMax of [10, 40, 60, 80]) {
      expect(shortValue(toWire(wordy), charsMax).length).toBeLessThanOrEqual(charsMax);
      expect(shortValue(toWire({ ...wordy, contentType: undefined }), charsMax).length).toBeLessThanOrEqual(
        charsMax,
      );
    }
  });
});
