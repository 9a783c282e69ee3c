// Exact lists: a list that is pushed to makes room for seventeen entries. Those of one pass hold one or two, and there
// are several for every execution.

/** The list with one more entry; `list` itself where that is cheaper. */
export function appended<T>(list: T[] | undefined, item: T): T[] {
  if (list === undefined || list.length === 0) return [item];
  if (list.length === 1) return [list[0]!, item];
  list.push(item);
  return list;
}
