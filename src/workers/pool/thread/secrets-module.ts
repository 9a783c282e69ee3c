// The secrets of an effects module: its export `secrets`, `{ resolver }`, at work in this thread. What that takes is loaded only
// where there is such an export.

import type { Redactor } from "../../../effects/secrets/redactor.js";
import { effectModule } from "./effect-module.js";

/** The module is loaded already. @throws CONFIG_INVALID for an export of another form */
export async function loadRedactor(url: string): Promise<Redactor | undefined> {
  const module = effectModule(url);
  const { secrets } = (await module.load()) as { readonly secrets?: { readonly resolver?: unknown } | null };
  if (secrets === undefined) return undefined;
  const resolver: unknown = secrets?.resolver;
  if (typeof resolver !== "function") {
    throw module.refused(
      "exports secrets, which has to be { resolver }, a function that gives secrets by name",
    );
  }
  const { Redactor } = await import("../../../effects/secrets/redactor.js");
  return new Redactor(resolver as ConstructorParameters<typeof Redactor>[0], () => Date.now());
}
