// Gate: whether a row lost so much that no noise explains it. Measuring is handed in.

import { z } from "zod";

const Gate = z.object({
  why: z.array(z.string()),
  /** Share of a reference, below which a row fails. */
  failsBelow: z.number().positive().lt(1),
  /** Ratios to the baseline, by the row's id. */
  rows: z.record(z.string(), z.number().positive()),
});
export type Gate = z.infer<typeof Gate>;

/** The median ratio of a row, or nothing when there was no time for it: a slow machine is no regression. */
export type MeasureRatio = (id: string) => Promise<number | undefined>;

export interface GateVerdict {
  readonly id: string;
  readonly reference: number;
  /** At least so much passes. */
  readonly least: number;
  /** One, or two where the first was too low. */
  readonly ratios: readonly number[];
  readonly fails: boolean;
}

export function parseGate(text: string): Gate {
  return Gate.parse(JSON.parse(text));
}

/** Rows that are too low have a second try after all others, when whatever disturbed the first may be over. */
export async function judgeRows(gate: Gate, measure: MeasureRatio): Promise<GateVerdict[]> {
  const first: GateVerdict[] = [];
  for (const id of Object.keys(gate.rows)) first.push(judge(gate, id, await ratiosOf(measure, id)));
  const verdicts: GateVerdict[] = [];
  for (const verdict of first) {
    const { id, ratios, fails } = verdict;
    // Without a second try nothing fails.
    const again = fails ? await ratiosOf(measure, id) : [];
    verdicts.push(fails ? judge(gate, id, again.length > 0 ? [...ratios, ...again] : []) : verdict);
  }
  return verdicts;
}

async function ratiosOf(measure: MeasureRatio, id: string): Promise<number[]> {
  const ratio = await measure(id);
  return ratio === undefined ? [] : [ratio];
}

function judge({ rows, failsBelow }: Gate, id: string, ratios: readonly number[]): GateVerdict {
  const reference = rows[id] ?? Number.NaN;
  const least = reference * failsBelow;
  return { id, reference, least, ratios, fails: ratios.length > 0 && Math.max(...ratios) < least };
}
