// Until: a wait for a condition, which says what it waited for.

/** Resolves once `is` holds; asked after each turn of the event loop. */
export async function until(is: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + 15_000;
  while (!(await is())) {
    if (performance.now() > deadline) throw new Error(`Never: ${what}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
