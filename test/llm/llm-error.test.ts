import { describe, expect, it } from "vitest";
import { retryHintOf } from "../../src/effects/index.js";
import { ERROR_CODES, failureToWire, fromWire, HeddleError, hasCode } from "../../src/kernel/index.js";
import { LlmError, type LlmErrorCode } from "../../src/llm/index.js";
import { packFailure, unpackFailure } from "../../src/workers/packets/index.js";

const codes = Object.keys(ERROR_CODES).filter((code): code is LlmErrorCode => code.startsWith("LLM_"));

describe("LlmError", () => {
  it.each(codes)(
    "%s says of a retry what its code says, also when it came from a log or a thread",
    (code) => {
      const error = new LlmError(code, "what happened", { provider: "p", retryAfterMs: 1_500 });
      const recorded = fromWire(failureToWire(error));
      const crossed = unpackFailure(packFailure(error));
      expect(crossed).toBeInstanceOf(HeddleError);
      for (const each of [error, recorded, crossed]) {
        expect(hasCode(each, code)).toBe(true);
        expect(each).toMatchObject({
          name: "LlmError",
          message: "what happened",
          details: { provider: "p" },
        });
        expect(retryHintOf(each, 0)).toEqual({ retryable: ERROR_CODES[code].retryable, retryAfterMs: 1_500 });
      }
    },
  );

  it("gives the vendor's words to those who hold it, and to no log, no JSON and no thread", () => {
    const error = new LlmError("LLM_REQUEST_REFUSED", "refused", {
      vendorMessage: "your prompt says: swordfish",
    });
    expect(error.vendorMessage).toContain("swordfish");
    expect(new LlmError("LLM_ABORTED", "m").vendorMessage).toBeUndefined();
    const recorded = fromWire(failureToWire(error)) as LlmError;
    const crossed = unpackFailure(packFailure(error)) as LlmError;
    expect([recorded.vendorMessage, crossed.vendorMessage]).toEqual([undefined, undefined]);
    expect(JSON.stringify([error, Object.entries(error), error.stack, error.message])).not.toContain(
      "swordfish",
    );
    expect(JSON.stringify(failureToWire(error))).not.toContain("swordfish");
  });

  it("may say otherwise of one failure", () => {
    expect(retryHintOf(new LlmError("LLM_RATE_LIMITED", "m", { retryable: false }), 0).retryable).toBe(false);
  });
});
