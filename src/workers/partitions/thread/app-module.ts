// The app module: the user's module that a partition thread loads. Its exports are what would be options of the app if the
// partitions ran in the host's thread, because functions cannot cross from one thread to another.

import { flowsOf } from "../../../actors/index.js";
import {
  type ClaimCheckConfig,
  type ClaimCheckStore,
  checkClaimCheckConfig,
  configuredClaimCheck,
  type EffectMiddleware,
  EffectRuntime,
  FlowPolicies,
  isAuthorizer,
  Redactor,
  type RingParts,
  ring,
  type SecretResolver,
} from "../../../effects/index.js";
import { HeddleError, type RegisteredFlow } from "../../../kernel/index.js";
import { UserModule } from "../../user-module.js";

export interface AppModule {
  readonly flows: readonly RegisteredFlow[];
  readonly effects: EffectRuntime;
  readonly claimCheck: ClaimCheckConfig | undefined;
  /** The export `secrets` at work. */
  readonly redactor: Redactor | undefined;
}

interface Exports {
  readonly registerEffects?: unknown;
  readonly effectMiddleware?: unknown;
  readonly authorizer?: unknown;
  readonly policies?: unknown;
  readonly claimCheck?: unknown;
  readonly secrets?: unknown;
}

/** What of the ring is not the module's to say. */
export interface ThreadParts {
  /** Asked for when an effect puts something away. */
  readonly store: () => ClaimCheckStore;
  readonly now: () => number;
  readonly killSwitch: RingParts["killSwitch"];
  readonly budgeting: RingParts["budgeting"];
  /** Whether an authorizer is asked for (`security.strict`). */
  readonly isStrict: boolean;
}

/** Throws CONFIG_INVALID, naming `workers.app`. */
export async function loadAppModule(url: string, parts: ThreadParts): Promise<AppModule> {
  const { store, now, killSwitch, budgeting, isStrict } = parts;
  const module = new UserModule("workers.app", url);
  const exported = await module.load();
  const {
    registerEffects,
    effectMiddleware = [],
    authorizer,
    policies,
    claimCheck,
    secrets,
  }: Exports = exported;
  if (registerEffects !== undefined && typeof registerEffects !== "function")
    throw module.refused("exports registerEffects, which has to be a function");
  if (!isMiddleware(effectMiddleware))
    throw module.refused("exports effectMiddleware, which has to be a list of functions");
  if (authorizer !== undefined && !isAuthorizer(authorizer))
    throw module.refused("exports authorizer, which has to have a function authorize");
  if (isStrict && authorizer === undefined)
    throw module.refused("exports no authorizer, which security.strict asks for");
  if (policies !== undefined && !Array.isArray(policies))
    throw module.refused("exports policies, which has to be a list of what policy$ makes");
  if (claimCheck !== undefined)
    checkClaimCheckConfig(`workers.app ${url}: its export claimCheck`, claimCheck);
  if (secrets !== undefined && !hasResolver(secrets))
    throw module.refused(
      "exports secrets, which has to be { resolver }, a function that gives secrets by name",
    );
  const flows = flowsOf(exported);
  const redactor = secrets && new Redactor(secrets.resolver, now);
  const effects = new EffectRuntime(
    ring({
      killSwitch,
      authorizer,
      policies,
      flowPolicies: new FlowPolicies(flows),
      budgeting,
      middleware: effectMiddleware,
      claimCheck: claimCheck && configuredClaimCheck(claimCheck, store),
      secrets: redactor,
    }),
  );
  try {
    (registerEffects as ((effects: EffectRuntime) => void) | undefined)?.(effects);
  } catch (error) {
    if (error instanceof HeddleError) throw error;
    throw module.refused(`exports registerEffects, which throws: ${String(error)}`, error);
  }
  return { flows, effects, claimCheck, redactor };
}

function hasResolver(value: unknown): value is { readonly resolver: SecretResolver } {
  return typeof (value as { resolver?: unknown } | null)?.resolver === "function";
}

function isMiddleware(value: unknown): value is EffectMiddleware[] {
  return Array.isArray(value) && value.every((layer) => typeof layer === "function");
}
