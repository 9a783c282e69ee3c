// LeanMap: a map by name whose first entry needs no table. Most executions have one step in flight and few steps in all,
// there are very many executions, and an empty Map is as large as everything else their run is made of.

export class LeanMap<V> {
  #name: string | undefined;
  #first: V | undefined;
  /** All entries, once there were two. */
  #table: Map<string, V> | undefined;

  get size(): number {
    if (this.#table) return this.#table.size;
    return this.#name === undefined ? 0 : 1;
  }

  get(name: string): V | undefined {
    if (this.#table) return this.#table.get(name);
    return this.#name === name ? this.#first : undefined;
  }

  has(name: string): boolean {
    return this.#table ? this.#table.has(name) : this.#name === name;
  }

  set(name: string, value: V): void {
    if (this.#table) {
      this.#table.set(name, value);
    } else if (this.#name === undefined || this.#name === name) {
      this.#name = name;
      this.#first = value;
    } else {
      this.#table = new Map([[this.#name, this.#first as V]]).set(name, value);
      this.#name = this.#first = undefined;
    }
  }

  delete(name: string): void {
    if (this.#table) this.#table.delete(name);
    else if (this.#name === name) this.#name = this.#first = undefined;
  }

  /** In the order in which names were first set. */
  values(): Iterable<V> {
    if (this.#table) return this.#table.values();
    return this.#name === undefined ? [] : [this.#first as V];
  }
}
