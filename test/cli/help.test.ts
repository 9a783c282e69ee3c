import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { heddle } from "./heddle.js";

async function help(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await heddle(...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

describe("help", () => {
  it("is what heddle alone prints", async () => {
    const alone = await help();
    expect(alone).toMatchInlineSnapshot(`
      "Usage: heddle [options] [command]

      Looks into the log of a heddle application, also while the application runs,
      decides what its effects left in doubt, and finds settings for them.

      Options:
        -V, --version                  print the version
        -h, --help                     print this help

      Commands:
        ls [options]                   list executions, newest first
        logs [options] <id>            print the timeline of an execution
        debug [options] <id>           print the state of an execution at one of its
                                       events
        doubts [options]               list steps in doubt, which wait for a verdict
        resolve [options] <id> <step>  decide what became of a step in doubt
        tune [options]                 find settings of the pool for an effect
        help [command]                 print the help of a command

      Examples:
        heddle ls --db .data
        heddle logs --db .data order-17
        heddle debug --db .data order-17 --at 10
        heddle doubts --db .data
        heddle tune --module ./effects.js --effect resize --input photo.json
      "
    `);
    expect(await help("--help")).toBe(alone);
    expect(await help("help")).toBe(alone);
  });

  it("tells of every command, with examples", async () => {
    expect(await help("ls", "--help")).toMatchInlineSnapshot(`
      "Usage: heddle ls [options]

      list executions, newest first

      Options:
        --db <dir>             the directory of the log, as lmdbStorage({ dir }) has
                               it
        -s, --status <status>  only these, with commas between: running, suspended,
                               completed, failed, cancelled, set-aside
        --flow <id>            only executions of this flow
        -n, --limit <count>    at most this many (default: 50)
        --after <id>           only executions that come after this one in the list
        --json                 print one JSON object a line
        -h, --help             print this help

      Examples:
        heddle ls --db .data --status running,suspended
        heddle ls --db .data --status set-aside
        heddle ls --db .data --flow order --limit 10 --json | jq -r .id
      "
    `);
    expect(await help("logs", "--help")).toMatchInlineSnapshot(`
      "Usage: heddle logs [options] <id>

      print the timeline of an execution

      Arguments:
        id                 the execution's id, or the beginning of it

      Options:
        --db <dir>         the directory of the log, as lmdbStorage({ dir }) has it
        --from <sequence>  begin at this event
        --to <sequence>    end with this event
        -t, --type <type>  only events of these types, with commas between
        -f, --follow       wait for more events until the execution ends
        --full             print values whole
        --json             print one JSON object a line: the event's envelope
        -h, --help         print this help

      Examples:
        heddle logs --db .data order-17
        heddle logs --db .data order-17 --follow
        heddle logs --db .data order-17 --type STEP_FAILED,STEP_RETRIED --full
        heddle logs --db .data order-17 --json | jq .payload
      "
    `);
    expect(await help("tune", "--help")).toMatchInlineSnapshot(`
      "Usage: heddle tune [options]

      find settings of the pool for an effect

      Options:
        --module <file>                 the effects module, as workers.effects.module
                                        has it
        --effect <id>                   the effect's id in that module
        --input <file>                  what it is called with: a file of JSON, or -
                                        for stdin
        --each                          the input is an array of inputs, taken in turn
        --calls <count>                 measure each setting with this many calls
        --seconds <seconds>             measure each setting for so long (default: 2)
        --max-threads <count>           try no more threads (default: one a processor)
        --max-calls-per-thread <count>  never more calls at a time on a thread
                                        (default: 256)
        --out <file>                    draw the curves into an SVG file
        --json                          print one JSON object
        -y, --yes                       call the effect without asking
        -h, --help                      print this help

      It really calls the effect, and asks before it does.

      Examples:
        heddle tune --module ./effects.js --effect resize --input photo.json
        heddle tune --module ./effects.js --effect ask --input - --calls 40 --max-calls-per-thread 16 --yes < prompt.json
        heddle tune --module ./effects.js --effect resize --input photos.json --each --out resize.svg
      "
    `);
    expect(await help("help", "debug")).toMatchInlineSnapshot(`
      "Usage: heddle debug [options] <id>

      print the state of an execution at one of its events

      Arguments:
        id               the execution's id, or the beginning of it

      Options:
        --db <dir>       the directory of the log, as lmdbStorage({ dir }) has it
        --at <sequence>  the event to stop at (default: the last)
        --full           list every entry and print values whole
        --json           print the state as one JSON object
        -h, --help       print this help

      Examples:
        heddle debug --db .data order-17
        heddle debug --db .data order-17 --at 10
        heddle debug --db .data order-17 --json | jq .frames
      "
    `);
  });

  it("knows the version of the package", async () => {
    const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
      version: string;
    };
    expect(await help("--version")).toBe(`${version}\n`);
  });
});
