// The crash matrix, as data: where a host dies, what it leaves behind, and what the next host makes of
// it, for each kind of effect and each place it may run in.
//
// Survived here: the death of the process at any of these points. Not here: a loss of power (what `flush` promises is pinned in
// test/kernel/store/lmdb-durability.test.ts), the death of a thread alone (test/workers), a full disk (test/lifecycle).

/** Where the effect runs: in the host's thread, or sent from there to the pool; or the same from a partition thread. */
export const PLACES = ["inline", "pooled", "thread", "thread, pooled"] as const;
export type Place = (typeof PLACES)[number];

export const EFFECTS = ["idempotent", "not idempotent"] as const;
export type EffectClass = (typeof EFFECTS)[number];

/** What dying-store.mjs and matrix-effects.mjs are told. */
export interface Death {
  readonly point: string;
  readonly event?: readonly string[];
  readonly count?: number;
  readonly spinUs?: number;
  /** Bytes of input: a commit that takes its time. */
  readonly filler?: number;
  readonly then?: "hold";
}

/** What is in the log of an execution: nothing, the step's request, its outcome too. */
export type Left = "nothing" | "request" | "outcome";

export interface Point {
  readonly label: "C1" | "C2" | "C3" | "C4" | "C5" | "C6" | "C7" | "C8";
  readonly name: string;
  readonly places: readonly Place[];
  readonly death: Death;
  /** A second host, which takes up what the first left and dies too. */
  readonly second?: Death;
  /** What the log holds then; of two, either, and the same for all executions of the batch. */
  readonly left: readonly Left[];
  /** How often the effect has begun by then. Undefined: once or not at all. */
  readonly begun: 0 | 1 | undefined;
}

const HOST: readonly Place[] = ["inline", "pooled"];
const START = ["EXECUTION_STARTED"];
const OUTCOME = ["STEP_COMPLETED"];
const RECOVERY = ["STEP_RETRIED", "EFFECT_INDOUBT"];
const running: Death = { point: "running" };
const soon = { event: START, point: "inCommit", filler: 1_000_000 };

export const POINTS: readonly Point[] = [
  {
    label: "C1",
    name: "start held",
    places: HOST,
    death: { event: START, point: "held" },
    left: ["nothing"],
    begun: 0,
  },
  {
    label: "C2",
    name: "start just handed over",
    places: HOST,
    death: { ...soon, spinUs: 0 },
    left: ["nothing", "request"],
    begun: 0,
  },
  {
    label: "C2",
    name: "start being written",
    places: HOST,
    death: { ...soon, spinUs: 2_000 },
    left: ["nothing", "request"],
    begun: 0,
  },
  {
    label: "C3",
    name: "start visible",
    places: HOST,
    death: { event: START, point: "visible" },
    left: ["request"],
    begun: 0,
  },
  {
    label: "C4",
    name: "start durable",
    places: HOST,
    death: { event: START, point: "durable" },
    left: ["request"],
    begun: 0,
  },
  { label: "C5", name: "effect running", places: PLACES, death: running, left: ["request"], begun: 1 },
  {
    label: "C5",
    name: "effect finished",
    places: PLACES,
    death: { point: "finished" },
    left: ["request"],
    begun: 1,
  },
  {
    label: "C5",
    name: "outcome held",
    places: HOST,
    death: { event: OUTCOME, point: "held" },
    left: ["request"],
    begun: 1,
  },
  {
    label: "C2",
    name: "outcome being written",
    places: HOST,
    death: { event: OUTCOME, point: "inCommit", spinUs: 100 },
    left: ["request", "outcome"],
    begun: 1,
  },
  {
    label: "C3",
    name: "outcome visible",
    places: HOST,
    death: { event: OUTCOME, point: "visible" },
    left: ["outcome"],
    begun: 1,
  },
  {
    label: "C6",
    name: "outcome durable",
    places: HOST,
    death: { event: OUTCOME, point: "durable" },
    left: ["outcome"],
    begun: 1,
  },
  {
    label: "C7",
    name: "recovery held",
    places: HOST,
    death: running,
    second: { event: RECOVERY, point: "held" },
    left: ["request"],
    begun: 1,
  },
  {
    label: "C7",
    name: "recovery visible",
    places: HOST,
    death: running,
    second: { event: RECOVERY, point: "visible" },
    left: ["request"],
    begun: 1,
  },
  {
    label: "C7",
    name: "recovery durable",
    places: HOST,
    death: running,
    second: { event: RECOVERY, point: "durable" },
    left: ["request"],
    begun: 1,
  },
  {
    label: "C7",
    name: "snapshot handed over",
    places: HOST,
    death: { point: "snapshot", count: 4 },
    left: ["request"],
    begun: undefined,
  },
  {
    label: "C8",
    name: "newer epoch",
    places: HOST,
    death: { event: OUTCOME, point: "held", then: "hold" },
    left: ["request"],
    begun: 1,
  },
];

/** What the next host does with the step. */
export type Answer =
  /** Nobody was told of the execution; started again, it is a new one. */
  | "starts anew"
  /** With the same key, in a higher attempt: the log cannot tell whether it has run. */
  | "runs again"
  /** It parks at EFFECT_INDOUBT, does not run, and each verdict resolves it. */
  | "waits in doubt"
  /** The flow gets the recorded outcome; the effect does not run again. */
  | "is served";

/** By what was left: of two, in the order of the point's `left`. */
type Answers = readonly Answer[];

export interface Row {
  readonly point: string;
  readonly effect: EffectClass;
  readonly answers: { readonly [P in Place]?: Answers };
}

const anew: Answers = ["starts anew"];
const again: Answers = ["runs again"];
const doubt: Answers = ["waits in doubt"];
const served: Answers = ["is served"];
const anewOrAgain: Answers = ["starts anew", "runs again"];
const anewOrDoubt: Answers = ["starts anew", "waits in doubt"];
const againOrServed: Answers = ["runs again", "is served"];
const doubtOrServed: Answers = ["waits in doubt", "is served"];

export const MATRIX: readonly Row[] = [
  { point: "start held", effect: "idempotent", answers: { inline: anew, pooled: anew } },
  { point: "start held", effect: "not idempotent", answers: { inline: anew, pooled: anew } },
  {
    point: "start just handed over",
    effect: "idempotent",
    answers: { inline: anewOrAgain, pooled: anewOrAgain },
  },
  {
    point: "start just handed over",
    effect: "not idempotent",
    answers: { inline: anewOrDoubt, pooled: anewOrDoubt },
  },
  {
    point: "start being written",
    effect: "idempotent",
    answers: { inline: anewOrAgain, pooled: anewOrAgain },
  },
  {
    point: "start being written",
    effect: "not idempotent",
    answers: { inline: anewOrDoubt, pooled: anewOrDoubt },
  },
  { point: "start visible", effect: "idempotent", answers: { inline: again, pooled: again } },
  { point: "start visible", effect: "not idempotent", answers: { inline: doubt, pooled: doubt } },
  { point: "start durable", effect: "idempotent", answers: { inline: again, pooled: again } },
  { point: "start durable", effect: "not idempotent", answers: { inline: doubt, pooled: doubt } },
  {
    point: "effect running",
    effect: "idempotent",
    answers: { inline: again, pooled: again, thread: again, "thread, pooled": again },
  },
  {
    point: "effect running",
    effect: "not idempotent",
    answers: { inline: doubt, pooled: doubt, thread: doubt, "thread, pooled": doubt },
  },
  {
    point: "effect finished",
    effect: "idempotent",
    answers: { inline: again, pooled: again, thread: again, "thread, pooled": again },
  },
  {
    point: "effect finished",
    effect: "not idempotent",
    answers: { inline: doubt, pooled: doubt, thread: doubt, "thread, pooled": doubt },
  },
  { point: "outcome held", effect: "idempotent", answers: { inline: again, pooled: again } },
  { point: "outcome held", effect: "not idempotent", answers: { inline: doubt, pooled: doubt } },
  {
    point: "outcome being written",
    effect: "idempotent",
    answers: { inline: againOrServed, pooled: againOrServed },
  },
  {
    point: "outcome being written",
    effect: "not idempotent",
    answers: { inline: doubtOrServed, pooled: doubtOrServed },
  },
  { point: "outcome visible", effect: "idempotent", answers: { inline: served, pooled: served } },
  { point: "outcome visible", effect: "not idempotent", answers: { inline: served, pooled: served } },
  { point: "outcome durable", effect: "idempotent", answers: { inline: served, pooled: served } },
  { point: "outcome durable", effect: "not idempotent", answers: { inline: served, pooled: served } },
  { point: "recovery held", effect: "idempotent", answers: { inline: again, pooled: again } },
  { point: "recovery held", effect: "not idempotent", answers: { inline: doubt, pooled: doubt } },
  { point: "recovery visible", effect: "idempotent", answers: { inline: again, pooled: again } },
  { point: "recovery visible", effect: "not idempotent", answers: { inline: doubt, pooled: doubt } },
  { point: "recovery durable", effect: "idempotent", answers: { inline: again, pooled: again } },
  { point: "recovery durable", effect: "not idempotent", answers: { inline: doubt, pooled: doubt } },
  { point: "snapshot handed over", effect: "idempotent", answers: { inline: again, pooled: again } },
  { point: "snapshot handed over", effect: "not idempotent", answers: { inline: doubt, pooled: doubt } },
  { point: "newer epoch", effect: "idempotent", answers: { inline: again, pooled: again } },
  { point: "newer epoch", effect: "not idempotent", answers: { inline: doubt, pooled: doubt } },
];
