// heddle logs: the timeline of one execution, once or as it grows.

import type { ExecutionPlace, LogInspector } from "../../kernel/store/lmdb/log-inspector.js";
import type { ExitCode } from "../failure.js";
import { findExecution } from "../find-execution.js";
import { openLog } from "../open-log.js";
import { endOf, type ReadEvent, readEvents } from "../read-events.js";
import { statusPaint, statusWords } from "../render/status.js";
import { printable } from "../render/text.js";
import { eventJson, Timeline, typeOf, unreadableWords } from "../render/timeline.js";
import type { Terminal } from "../terminal.js";
import { TurnRequests } from "../turn-requests.js";

export interface LogsOptions {
  readonly db: string;
  readonly from?: number;
  readonly to?: number;
  readonly type?: readonly string[];
  readonly follow?: boolean;
  readonly full?: boolean;
  readonly json?: boolean;
}

/** Where nobody looks at columns. */
const WIDTH_DEFAULT = 160;

export async function logs(terminal: Terminal, id: string, options: LogsOptions): Promise<ExitCode> {
  const { json = false, follow = false, from, to } = options;
  const log = openLog(options.db);
  const place = await findExecution(log, id);
  const turns = new TurnRequests(log, place);
  const print = json
    ? (events: readonly ReadEvent[]) => jsonOf(place, events, options.full ? turns : undefined)
    : await timelineOf(terminal, log, place, turns, options);
  const filter = new TypeFilter(options.type);
  const aside = new AsideNotice(terminal, log, place);
  let shown = 0;
  let hasUnreadable = false;
  for await (const events of readEvents(log, place, { from, to, follow, signal: terminal.signal })) {
    const wanted = events.filter((event) => filter.takes(event));
    shown += wanted.length;
    await terminal.print(print(wanted));
    for (const event of wanted) {
      if (event.kind !== "unreadable") continue;
      hasUnreadable = true;
      if (json) terminal.note(unreadableWords(event));
    }
    if (events.length === 0) aside.look();
  }
  if (shown === 0 && !terminal.signal.aborted) terminal.note(emptyWords(log, place, filter));
  return hasUnreadable ? 1 : 0;
}

function jsonOf(
  { id }: ExecutionPlace,
  events: readonly ReadEvent[],
  turns: TurnRequests | undefined,
): string[] {
  return events.map((read) =>
    eventJson(id, read, read.kind === "event" ? turns?.of(read.event, read.sequence) : undefined),
  );
}

async function timelineOf(
  terminal: Terminal,
  log: LogInspector,
  place: ExecutionPlace,
  turns: TurnRequests,
  { full = false }: LogsOptions,
) {
  const { colors } = terminal;
  const stored = log.header(place);
  const [first] = log.records(place, 0, 1);
  const header = stored?.kind === "header" ? stored.header : undefined;
  if (header) {
    const { flowId, flowVersion, status, aside } = header;
    const flow = printable(`${flowId}@${flowVersion}`);
    const standing = statusPaint(status, colors)(statusWords(status));
    await terminal.print([`${colors.bold(printable(place.id))}  ${flow}  ${standing}`]);
    if (aside) await terminal.print([colors.magenta(printable(`${aside.code}: ${aside.message}`))]);
  } else {
    terminal.note(`The header of ${printable(place.id)} cannot be read; its events are below.`);
  }
  const timeline = new Timeline({
    colors,
    width: terminal.width ?? WIDTH_DEFAULT,
    full,
    turns,
    startedAt: first?.kind === "record" ? first.record.timestamp : (header?.createdAt ?? 0),
    sequenceWidth: Math.max(3, String(endOf(log, place)).length),
  });
  return (events: readonly ReadEvent[]) => timeline.lines(events);
}

/** Takes events of the wanted types, and remembers what other types there were, for whoever misspelt one. */
class TypeFilter {
  readonly wanted: ReadonlySet<string> | undefined;
  readonly #seen = new Set<string>();

  constructor(types: readonly string[] | undefined) {
    this.wanted = types && new Set(types.map((type) => type.toLowerCase()));
  }

  get seen(): string[] {
    return [...this.#seen].sort();
  }

  takes(read: ReadEvent): boolean {
    if (!this.wanted || read.kind === "unreadable") return true;
    const type = typeOf(read.event);
    this.#seen.add(type);
    return this.wanted.has(type.toLowerCase()) || this.wanted.has(read.event.type.toLowerCase());
  }
}

/** An execution that is set aside gets no more events; whoever follows it should hear why. */
class AsideNotice {
  readonly #terminal: Terminal;
  readonly #log: LogInspector;
  readonly #place: ExecutionPlace;
  #given = false;

  constructor(terminal: Terminal, log: LogInspector, place: ExecutionPlace) {
    this.#terminal = terminal;
    this.#log = log;
    this.#place = place;
  }

  look(): void {
    const stored = this.#log.header(this.#place);
    const aside = stored?.kind === "header" ? stored.header.aside : undefined;
    if (aside && !this.#given) {
      this.#terminal.note(printable(`Set aside, waiting for a repair: ${aside.code}: ${aside.message}`));
    }
    this.#given = aside !== undefined;
  }
}

function emptyWords(log: LogInspector, place: ExecutionPlace, { wanted, seen }: TypeFilter): string {
  if (wanted && seen.length > 0) return printable(`No event has this type. There are: ${seen.join(", ")}`);
  const end = endOf(log, place);
  return end < 0 ? "No events." : `No events there: they have the sequences 0 to ${end}.`;
}
