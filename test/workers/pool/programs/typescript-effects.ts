import { ToolEffect } from "heddle";

interface Factor {
  readonly by: number;
}

const twice: Factor = { by: 2 };
export const effects = { typed: new ToolEffect((n: number): number => n * twice.by) };
