// A result as a promise, without one of our own where the effect made one: that is the whole cost of an ambient call.

export function promised<T>(result: T | Promise<T>): Promise<T> {
  return result instanceof Promise ? result : Promise.resolve(result);
}

export async function rejected(error: unknown): Promise<never> {
  throw error;
}
