/** All that a stream gives. `met` holds what came before it failed. */
export async function collect<T>(stream: AsyncIterable<T>, met: T[] = []): Promise<T[]> {
  for await (const piece of stream) met.push(piece);
  return met;
}
