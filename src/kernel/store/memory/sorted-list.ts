/** A list kept in order of `compare`, which tells any two different items apart. */
export class SortedList<T> {
  readonly #items: T[] = [];
  readonly #compare: (a: T, b: T) => number;

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get items(): readonly T[] {
    return this.#items;
  }

  /** Adds the item, or replaces the one equal to it. */
  put(item: T): void {
    const at = this.position(item);
    this.#items.splice(at, this.#isAt(at, item) ? 1 : 0, item);
  }

  delete(item: T): void {
    const at = this.position(item);
    if (this.#isAt(at, item)) this.#items.splice(at, 1);
  }

  /** How many items come before `item`. */
  position(item: T): number {
    let low = 0;
    let high = this.#items.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(this.#items[middle]!, item) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #isAt(position: number, item: T): boolean {
    return position < this.#items.length && this.#compare(this.#items[position]!, item) === 0;
  }
}
