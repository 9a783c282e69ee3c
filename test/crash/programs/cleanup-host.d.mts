import type { RegisteredFlow } from "heddle";

export function cleanupFlow(file: string): RegisteredFlow;
