// SecretTexts: the values that may not be read, and the search for them in whatever is on its way out.
//
// S1  Searched for are texts, numbers and bytes of a value, as they are and in the forms in which programs pass them on:
//     base64 at each of its three alignments, base64url, hex, percent-encoded, escaped as in JSON. A text of several lines is
//     searched for line by line too.
// S2  What is shorter than six characters is not searched for: it would be found everywhere.
// S3  A long value is known by pieces of its beginning, middle and end; what holds one is replaced as a whole. There are bounds to
//     what is searched for, so that a marked document, or a list of thousands, costs no more than it is worth.
// S4  A cut-off text does not end in the beginning of a secret.

import { types } from "node:util";
import { placeholder, rewriteWire, type Wire } from "../codec/index.js";

/** S2 */
const CHARS_MIN = 6;
/** A line of a longer secret is telling only when it is no line like any other (`-----BEGIN`). */
const LINE_CHARS_MIN = 16;
/** S3 */
const CHARS_MAX = 1_024;
const PIECE_CHARS = 64;
const SECRETS_MAX = 1_000;
const CUT_MARK = "…";

export class SecretTexts {
  readonly #placeholder: string;
  /** Every form, and the secret it is a form of. */
  readonly #forms = new Map<string, string | Buffer>();
  readonly #bytes: Buffer[] = [];
  /** Pieces of long values (S3), and the same of bytes. */
  readonly #pieces = new Set<string>();
  #count = 0;
  #pattern: RegExp | undefined;

  constructor(label: string) {
    this.#placeholder = placeholder(label);
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** Takes in every text, number and piece of bytes in a value. */
  add(value: unknown): void {
    const met = new Set<object>();
    const toDo: unknown[] = [value];
    while (toDo.length > 0) {
      const part = toDo.pop();
      if (typeof part === "string") this.#addText(part);
      else if (typeof part === "number" || typeof part === "bigint") this.#addText(String(part));
      else if (typeof part === "object" && part !== null && !met.has(part)) {
        met.add(part);
        if (ArrayBuffer.isView(part))
          this.#addBytes(Buffer.from(part.buffer, part.byteOffset, part.byteLength));
        else if (types.isAnyArrayBuffer(part)) this.#addBytes(Buffer.from(part));
        else for (const inner of partsOf(part)) toDo.push(inner);
      }
    }
  }

  /** Whether any of them is in a wire, whatever it is hidden in. */
  isIn(wire: Wire): boolean {
    return !Object.is(this.scrub(wire), wire);
  }

  isInText(text: string): boolean {
    return this.scrubText(text) !== text;
  }

  /** Which of them are in a text. */
  foundIn(text: string): (string | Buffer)[] {
    if (this.#hasPiece(text)) return [text];
    if (this.#forms.size === 0) return [];
    return [...text.matchAll(this.#search())].map(([form]) => this.#forms.get(form)!);
  }

  /** The wire with a placeholder for each of them; the wire itself when there is none in it. */
  scrub(wire: Wire): Wire {
    if (this.isEmpty) return wire;
    return rewriteWire(wire, {
      text: (text) => this.scrubText(text),
      key: (key) => this.scrubText(key),
      number: (value) => (this.isInText(String(value)) ? this.#placeholder : value),
      bytes: (bytes) => (this.#isInBytes(bytes) ? new Uint8Array(bytes.length) : bytes),
    });
  }

  scrubText(text: string): string {
    if (this.isEmpty || text.length < CHARS_MIN) return text;
    if (this.#hasPiece(text)) return this.#placeholder;
    if (this.#forms.size === 0) return text;
    const scrubbed = text.replaceAll(this.#search(), this.#placeholder);
    return scrubbed.endsWith(CUT_MARK) ? this.#withoutBeginning(scrubbed) : scrubbed;
  }

  #hasPiece(text: string): boolean {
    if (text.length < PIECE_CHARS) return false;
    for (const piece of this.#pieces) if (text.includes(piece)) return true;
    return false;
  }

  #search(): RegExp {
    this.#pattern ??= new RegExp(
      [...this.#forms.keys()]
        .sort((one, other) => other.length - one.length)
        .map(escaped)
        .join("|"),
      "g",
    );
    return this.#pattern;
  }

  /** S4 */
  #withoutBeginning(cut: string): string {
    const text = cut.slice(0, -CUT_MARK.length);
    for (const form of this.#forms.keys()) {
      for (let length = Math.min(form.length, text.length); length >= CHARS_MIN; length--) {
        if (!text.endsWith(form.slice(0, length))) continue;
        return text.slice(0, -length) + this.#placeholder + CUT_MARK;
      }
    }
    return cut;
  }

  #isInBytes(bytes: Uint8Array): boolean {
    const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (this.#bytes.some((secret) => view.includes(secret))) return true;
    return this.isInText(view.toString("latin1"));
  }

  #addText(text: string): void {
    if (text.length < CHARS_MIN || this.#count >= SECRETS_MAX) return;
    this.#count += 1;
    if (text.length > CHARS_MAX) {
      for (const start of pieceStarts(text.length))
        this.#addPieces(Buffer.from(text.slice(start, start + PIECE_CHARS)));
      return;
    }
    const escapes = JSON.stringify(text).slice(1, -1);
    for (const form of [text, escapes, text.replaceAll("'", "\\'")]) this.#addForm(form, text);
    if (text.isWellFormed()) {
      const percent = encodeURIComponent(text);
      const asInForms = new URLSearchParams({ "": text }).toString().slice(1);
      for (const form of [percent, percent.replaceAll("%20", "+"), asInForms]) {
        this.#addForm(form, text);
        this.#addForm(
          form.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
          text,
        );
      }
    }
    this.#addBytes(Buffer.from(text), text);
    const lines = text.split(/\r?\n/);
    if (lines.length < 2) return;
    for (const line of lines) if (line.length >= LINE_CHARS_MIN) this.#addText(line);
  }

  #addBytes(bytes: Buffer, secret: string | Buffer = bytes): void {
    if (bytes.length < CHARS_MIN || this.#count >= SECRETS_MAX) return;
    if (secret === bytes) this.#count += 1;
    if (bytes.length > CHARS_MAX && secret === bytes) {
      for (const start of pieceStarts(bytes.length))
        this.#addPieces(bytes.subarray(start, start + PIECE_CHARS));
      return;
    }
    this.#bytes.push(bytes);
    if (secret === bytes) {
      this.#addForm(bytes.toString("latin1"), secret);
      this.#addForm(bytes.toString("utf8"), secret);
    }
    const hex = bytes.toString("hex");
    this.#addForm(hex, secret);
    this.#addForm(hex.toUpperCase(), secret);
    for (const core of base64Cores(bytes)) {
      this.#addForm(core, secret);
      this.#addForm(core.replaceAll("+", "-").replaceAll("/", "_"), secret);
    }
  }

  #addPieces(bytes: Buffer): void {
    const forms = [
      bytes.toString("utf8"),
      bytes.toString("latin1"),
      JSON.stringify(bytes.toString("utf8")).slice(1, -1),
    ];
    const hex = bytes.toString("hex");
    const cores = base64Cores(bytes);
    for (const piece of [...forms, hex, hex.toUpperCase(), ...cores]) this.#pieces.add(piece);
  }

  #addForm(form: string, secret: string | Buffer): void {
    if (form.length < CHARS_MIN || this.#forms.has(form)) return;
    this.#forms.set(form, secret);
    this.#pattern = undefined;
  }
}

function pieceStarts(length: number): number[] {
  return [0, Math.floor((length - PIECE_CHARS) / 2), length - PIECE_CHARS];
}

/** What stays the same of the base64 of bytes, whatever stands before and after them, for each of the three alignments. */
function base64Cores(bytes: Buffer): string[] {
  return [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
}

function escaped(text: string): string {
  return text.replaceAll(/[$()*+./?[\\\]^{|}-]/g, "\\$&");
}

function partsOf(value: object): unknown[] {
  const parts: unknown[] = [];
  if (types.isMap(value)) for (const [key, item] of value) parts.push(key, item);
  else if (types.isSet(value)) parts.push(...value);
  const isError = types.isNativeError(value);
  for (const key of Object.getOwnPropertyNames(value)) {
    // What a secret's parts are called, and where an error was made, is no secret.
    if (isError && key === "stack") continue;
    parts.push(Object.getOwnPropertyDescriptor(value, key)?.value);
  }
  return parts;
}
