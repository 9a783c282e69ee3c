// Command: how a program of the bench begins and ends.

/** Wrong use: the message is all there is to say. */
export class UsageError extends Error {}

export const FAILED = 2;

/** Runs `main`, whose answer is the exit code. Asked for help it gives that instead. */
export async function runCommand<O extends { readonly help: boolean }>(
  read: (args: readonly string[]) => O,
  help: string,
  main: (options: O) => Promise<number>,
): Promise<void> {
  try {
    const options = read(process.argv.slice(2));
    if (options.help) console.log(help);
    else process.exitCode = await main(options);
  } catch (error) {
    console.error(error instanceof UsageError ? error.message : error);
    process.exitCode = FAILED;
  }
}
