// Latest: the last so many things that were noted, each once, the oldest first.

export class Latest<T> implements Iterable<T> {
  readonly #max: number;
  readonly #things = new Set<T>();

  constructor(max: number) {
    this.#max = max;
  }

  /** What was noted before becomes the newest again. */
  note(thing: T): void {
    this.#things.delete(thing);
    this.#things.add(thing);
    if (this.#things.size <= this.#max) return;
    const [oldest] = this.#things;
    this.#things.delete(oldest!);
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#things.values();
  }
}
