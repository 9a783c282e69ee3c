// What executions of a soak come to, whatever happens to their hosts: it depends on their number alone.

export const KINDS = ["mixed", "pooled", "agent", "stopped"] as const;
export type Kind = (typeof KINDS)[number];

export interface Ending {
  readonly status: "completed" | "cancelled";
  readonly output: unknown;
}

export function idOf(lane: string, kind: Kind, n: number): string {
  return `${lane}-${kind}-${n}`;
}

export function expectedOf(id: string): Ending {
  const [kind, number] = id.split("-").slice(-2) as [Kind, string];
  const n = Number(number);
  switch (kind) {
    case "mixed":
      return { status: "completed", output: mixed(n, id) };
    case "pooled":
      return { status: "completed", output: { n, parts: [0, 1, 2].map((part) => n * 100 + part) } };
    case "agent":
      return { status: "completed", output: { n, content: `done with ${n}`, iterations: 4 } };
    case "stopped":
      return { status: "cancelled", output: undefined };
  }
}

/** ../crash/programs/mixed-flow.mjs */
function mixed(n: number, id: string): unknown {
  const a = n + 1;
  const b = a * 3;
  const c = b + 7;
  return {
    n,
    a,
    b,
    parts: [0, 1, 2, 3, 4].map((i) => b * 10 + i),
    route: n % 2 === 0 ? "even" : "odd",
    c,
    d: c - 1,
    e: c + 100,
    word: `word of ${id}`,
  };
}
