// Within: a wait that says what it waited for.

/** Rejects with `what` when the promise is not settled in time, so that a hang fails with a name. */
export async function within<T>(promise: Promise<T>, what: string, limitMs = 15_000): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Not within ${limitMs} ms: ${what}`)), limitMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
