// CallTree: where the time of a V8 profile went, function by function, from callers to callees.
//
// A call from the event loop begins anew: what an awaited promise goes on with stands at the top, not under who awaited it.

import type { Profiler } from "node:inspector";

/** Whose code it is. "engine": collections, native code, and the time in which nothing ran. */
export type Owner = "heddle" | "bench" | "package" | "node" | "engine";

export interface Place {
  readonly owner: Owner;
  /** File and line of the source, or what the engine calls it. */
  readonly where: string;
}

export interface Call extends Place {
  readonly name: string;
  readonly totalUs: number;
  readonly selfUs: number;
  /** The longest first. */
  readonly calls: readonly Call[];
}

type Node = Profiler.ProfileNode;
export type PlaceOf = (frame: Node["callFrame"]) => Place;

/** `isLeftOut`: calls whose time does not count, such as checks that are off the clock. */
export function callTree(
  profile: Profiler.Profile,
  placeOf: PlaceOf,
  isLeftOut: (place: Place) => boolean,
): readonly Call[] {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const selfUs = new Map<number, number>();
  for (const [index, id] of (profile.samples ?? []).entries()) {
    selfUs.set(id, (selfUs.get(id) ?? 0) + (profile.timeDeltas?.[index] ?? 0));
  }
  const merge = (ids: readonly number[]): Call[] => {
    const same = new Map<string, { readonly name: string; readonly place: Place; readonly nodes: Node[] }>();
    for (const node of ids.flatMap((id) => nodes.get(id) ?? [])) {
      const place = placeOf(node.callFrame);
      if (isLeftOut(place)) continue;
      const name = node.callFrame.functionName || nameless(place);
      const key = `${name} ${place.where}`;
      const group = same.get(key) ?? { name, place, nodes: [] };
      group.nodes.push(node);
      same.set(key, group);
    }
    const calls = [...same.values()].map(({ name, place, nodes }): Call => {
      const own = nodes.reduce((sum, { id }) => sum + (selfUs.get(id) ?? 0), 0);
      const calls = merge(nodes.flatMap(({ children }) => children ?? []));
      return { name, ...place, selfUs: own, totalUs: own + sumOf(calls), calls };
    });
    return calls.filter(({ totalUs }) => totalUs > 0).sort((a, b) => b.totalUs - a.totalUs);
  };
  const called = new Set(profile.nodes.flatMap(({ children }) => children ?? []));
  const roots = profile.nodes.filter(({ id }) => !called.has(id));
  return merge(roots.flatMap(({ children }) => children ?? []));
}

/** "(partition.ts:12)" */
function nameless({ where }: Place): string {
  return `(${where === "" ? "native code" : where.slice(where.lastIndexOf("/") + 1)})`;
}

export function sumOf(calls: readonly Call[]): number {
  return calls.reduce((sum, { totalUs }) => sum + totalUs, 0);
}

/** What each function spent itself, whoever called it; the longest first. */
export function selfTimes(calls: readonly Call[]): readonly Omit<Call, "totalUs" | "calls">[] {
  const found = new Map<string, Omit<Call, "totalUs" | "calls">>();
  const visit = ({ name, owner, where, selfUs, calls }: Call): void => {
    const key = `${name} ${where}`;
    found.set(key, { name, owner, where, selfUs: selfUs + (found.get(key)?.selfUs ?? 0) });
    for (const call of calls) visit(call);
  };
  for (const call of calls) visit(call);
  return [...found.values()].sort((a, b) => b.selfUs - a.selfUs);
}
