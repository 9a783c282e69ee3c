// FairQueue: first come, first served within a key; between keys, one after the other.
//
// Owns       the order in which what waits is taken, and nothing about what it is.
//
// Q1  Items of one key are taken in the order they came; one that was put back comes before all others of its key.
// Q2  Keys take turns: among k keys that have something waiting, none waits for more than k - 1 items of others.
// Q3  Every operation takes constant time, however many items and keys there are.

/** Where an item stands; hand it back to `remove`. */
export interface Place<T> {
  readonly item: T;
}

class Node<T> implements Place<T> {
  readonly item: T;
  readonly line: Line<T>;
  before: Node<T> | undefined = undefined;
  after: Node<T> | undefined = undefined;
  isWaiting = true;

  constructor(item: T, line: Line<T>) {
    this.item = item;
    this.line = line;
  }
}

/** What waits under one key. Lines with something in them form a ring. */
class Line<T> {
  readonly key: string;
  first: Node<T> | undefined = undefined;
  last: Node<T> | undefined = undefined;
  previous: Line<T> = this;
  next: Line<T> = this;

  constructor(key: string) {
    this.key = key;
  }
}

export class FairQueue<T> {
  readonly #lines = new Map<string, Line<T>>();
  /** The line whose turn it is. */
  #turn: Line<T> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** How many keys have something waiting. */
  get keys(): number {
    return this.#lines.size;
  }

  push(key: string, item: T): Place<T> {
    const line = this.#lineOf(key);
    const node = new Node(item, line);
    node.before = line.last;
    if (line.last) line.last.after = node;
    else line.first = node;
    line.last = node;
    this.#size += 1;
    return node;
  }

  /** Q1: for what was taken and could not be used. Of several, put back the last one first. */
  putBack(key: string, item: T): Place<T> {
    const line = this.#lineOf(key);
    const node = new Node(item, line);
    node.after = line.first;
    if (line.first) line.first.before = node;
    else line.last = node;
    line.first = node;
    this.#size += 1;
    return node;
  }

  take(): T | undefined {
    const line = this.#turn;
    const node = line?.first;
    if (line === undefined || node === undefined) return undefined;
    this.#turn = line.next; // Q2
    this.#unlink(node);
    return node.item;
  }

  /** Whether the item was still waiting. */
  remove(place: Place<T>): boolean {
    if (!(place instanceof Node) || !place.isWaiting) return false;
    this.#unlink(place as Node<T>);
    return true;
  }

  /** Everything that waits, in the order of `take`, and empties the queue. */
  takeAll(): T[] {
    const items: T[] = [];
    for (let item = this.take(); item !== undefined; item = this.take()) items.push(item);
    return items;
  }

  #lineOf(key: string): Line<T> {
    const known = this.#lines.get(key);
    if (known) return known;
    const line = new Line<T>(key);
    this.#lines.set(key, line);
    // A new line stands at the end of the round: just before the one whose turn it is.
    const turn = this.#turn;
    if (turn === undefined) this.#turn = line;
    else {
      line.previous = turn.previous;
      line.next = turn;
      turn.previous.next = line;
      turn.previous = line;
    }
    return line;
  }

  #unlink(node: Node<T>): void {
    const { line, before, after } = node;
    if (before) before.after = after;
    else line.first = after;
    if (after) after.before = before;
    else line.last = before;
    node.isWaiting = false;
    this.#size -= 1;
    if (line.first === undefined) this.#drop(line);
  }

  #drop(line: Line<T>): void {
    this.#lines.delete(line.key);
    if (line.next === line) {
      this.#turn = undefined;
      return;
    }
    if (this.#turn === line) this.#turn = line.next;
    line.previous.next = line.next;
    line.next.previous = line.previous;
  }
}
