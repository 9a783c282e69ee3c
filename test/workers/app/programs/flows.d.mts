import type { RegisteredFlow } from "heddle";

export declare const echo: RegisteredFlow;
export declare const hold: RegisteredFlow;
