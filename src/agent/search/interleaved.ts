/** One of the first, one of the second, and so on, at most `limit` in all. When one runs out, the other has its share. */
export function interleaved<T>(first: readonly T[], second: readonly T[], limit: number): T[] {
  const both: T[] = [];
  for (let place = 0; both.length < limit && place < Math.max(first.length, second.length); place++) {
    both.push(...first.slice(place, place + 1), ...second.slice(place, place + 1));
  }
  return both.slice(0, limit);
}
