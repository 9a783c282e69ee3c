// redactionMiddleware: secret references for programs that put their ring together themselves. `security.secrets` wires the
// same, in the place where it belongs: innermost, so that nothing but the effect sees what a reference stands for.

import { type EffectMiddleware, Redactor, type SecretResolver } from "../effects/index.js";
import { HeddleError } from "../kernel/index.js";

export interface RedactionMiddlewareOptions {
  readonly resolver: SecretResolver;
}

/** @throws CONFIG_INVALID without a resolver */
export function redactionMiddleware(options: RedactionMiddlewareOptions): EffectMiddleware {
  const { resolver } = options ?? {};
  if (typeof resolver !== "function") {
    throw new HeddleError(
      "CONFIG_INVALID",
      "redactionMiddleware: resolver must be a function: (name, ctx) => secret.",
      { details: { option: "resolver" } },
    );
  }
  const redactor = new Redactor(resolver, () => Date.now());
  return (ctx, input, next) => (redactor.isNeeded(input) ? redactor.around(ctx, input, next) : next());
}
