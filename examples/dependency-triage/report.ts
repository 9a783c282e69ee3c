// Report: what came of the run, and the proof of how it went. `--json` prints it as it is.

import type { EventEnvelope } from "heddle";
import type { AgentResult } from "heddle/agent";
import picocolors from "picocolors";
import type { Tally } from "../shared/counter.js";
import type { DataDirectory } from "../shared/data.js";
import { quoted } from "../shared/terminal.js";
import { type Ending, EXECUTION_ID } from "./triage.js";

export interface Moment {
  /** After the first event, in milliseconds. */
  readonly atMs: number;
  readonly sequence: number;
  readonly what: string;
}

export interface Report {
  readonly tree: string;
  readonly model: string;
  /** What the agent said in the end. Absent where it came to no end. */
  readonly answer?: string;
  readonly failure?: string;
  readonly turns: number;
  readonly tokens: { readonly input: number; readonly output: number };
  readonly toolCalls: readonly { readonly name: string; readonly outcome: string }[];
  readonly timeline: readonly Moment[];
  /** Of models and tools, as they noted it themselves: see ../shared/counter.ts. */
  readonly calls: Tally;
  readonly kills: number;
  readonly seconds: number;
  readonly data: string;
  readonly counter: string;
  readonly logsCommand: string;
}

interface Facts {
  readonly tree: string;
  readonly model: string;
  readonly data: DataDirectory;
  readonly kills: number;
  readonly seconds: number;
  readonly calls: Tally;
}

export function reportOf(
  { state, events }: Extract<Ending, { readonly kind: "finished" }>,
  { data, ...facts }: Facts,
): Report {
  const result = state.variables["_output"] as AgentResult | undefined;
  const error = state.error instanceof Error ? state.error.message : state.reason;
  return {
    ...facts,
    ...(result && { answer: result.content }),
    ...(!result && { failure: error ?? state.status }),
    turns: result?.iterations ?? 0,
    tokens: { input: result?.usage?.inputTokens ?? 0, output: result?.usage?.outputTokens ?? 0 },
    toolCalls: (result?.toolCallLog ?? []).map(({ name, error: failed }) => ({
      name,
      outcome: failed?.code ?? "done",
    })),
    timeline: timelineOf(events),
    data: data.dir,
    counter: data.counter,
    logsCommand: `npx heddle logs --db ${quoted(data.log)} ${EXECUTION_ID}`,
  };
}

function timelineOf(events: readonly EventEnvelope[]): Moment[] {
  const [first] = events;
  return events.flatMap(({ type, sequence, timestamp, payload }): Moment[] => {
    const { stepId, decisionId, on } = payload as Readonly<
      Record<"stepId" | "decisionId" | "on", string | undefined>
    >;
    const of = stepId ?? decisionId ?? on;
    return [
      {
        atMs: timestamp - (first?.timestamp ?? 0),
        sequence,
        what: of === undefined ? type : `${type} ${of}`,
      },
    ];
  });
}

const { bold, dim, green, red } = picocolors;

/** `kept` says whether the log will still be there to look at. */
export function reportText(report: Report, kept: boolean): string {
  const { answer, failure, timeline, tokens, turns, calls, counter, kills, seconds } = report;
  const width = String(timeline.at(-1)?.atMs ?? 0).length;
  const paragraphs = [
    bold("Timeline"),
    timeline.map(({ atMs, what }) => dim(`  ${String(atMs).padStart(width)} ms  ${what}`)).join("\n"),
    answer === undefined ? red(`It came to no answer: ${failure ?? ""}`) : green(answer),
    `${turns} turns, ${tokens.input} tokens in, ${tokens.output} out, ${seconds.toFixed(1)} s${kills > 0 ? ", a kill and a restart included" : ""}`,
    [
      `What the model and the tools themselves wrote into ${counter}:`,
      `  calls completed: ${calls.completed}, made again after they had been recorded: ${calls.runAgainAfterCompletion}`,
      ...calls.cutShort.map((call) => `  cut short by the kill, and rightly made again: ${call}`),
    ].join("\n"),
    ...(kept ? [`Read the log, every request of the model included:\n  ${bold(report.logsCommand)}`] : []),
  ];
  return paragraphs.map((paragraph) => `\n${paragraph}\n`).join("");
}
