import type { ClaimCheckConfig, RegisteredFlow } from "heddle";

export const single: RegisteredFlow;
export const pair: RegisteredFlow;
export const claimCheck: ClaimCheckConfig;
