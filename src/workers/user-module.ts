// A module of the user's that a thread loads. Complaints name the option it was given by.

import { HeddleError } from "../kernel/errors.js";

export class UserModule {
  readonly #option: string;
  readonly #url: string;

  constructor(option: string, url: string) {
    this.#option = option;
    this.#url = url;
  }

  /** What it exports. */
  async load(): Promise<Readonly<Record<string, unknown>>> {
    try {
      return (await import(this.#url)) as Readonly<Record<string, unknown>>;
    } catch (error) {
      throw this.refused(
        `cannot be loaded: ${error instanceof Error ? error.message : String(error)}`,
        error,
      );
    }
  }

  /** `complaint` follows on the module's name. */
  refused(complaint: string, cause?: unknown): HeddleError {
    const option = this.#option;
    return new HeddleError("CONFIG_INVALID", `${option} ${this.#url} ${complaint.replace(/\.$/, "")}.`, {
      details: { option, module: this.#url },
      ...(cause !== undefined && { cause }),
    });
  }

  /** It has not been loaded after so long. */
  overdue(limitMs: number, limitOption: string): HeddleError {
    return this.refused(
      `has not been loaded within ${limitMs} ms: something it awaits does not come. ` +
        `If it needs longer, raise ${limitOption}`,
    );
  }
}
