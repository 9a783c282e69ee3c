// Extra request headers: checked when a provider is built, so that no request fails for them. Complaints name a header and never
// print its value, which may be a credential.

import { invalidOption } from "../../kernel/index.js";

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** What HTTP takes in a value (RFC 9110, section 5.5), and Node with it. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * @param owner the class, for complaints
 * @param reserved what the provider sets itself, in lower case
 * @throws CONFIG_INVALID
 */
export function checkHeaders(
  owner: string,
  headers: unknown,
  reserved: readonly string[],
): Readonly<Record<string, string>> {
  if (headers === undefined) return {};
  if (typeof headers !== "object" || headers === null || Array.isArray(headers))
    throw invalidOption(`${owner}: headers`, "must be an object of names and values");
  const checked: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers) as [string, unknown][]) {
    const option = `${owner}: headers[${JSON.stringify(name)}]`;
    if (!NAME.test(name)) throw invalidOption(option, "has a name that is none of HTTP's");
    if (reserved.includes(name.toLowerCase()))
      throw invalidOption(option, "is set by the provider itself and cannot be replaced");
    if (typeof value !== "string") throw invalidOption(option, "must be a text");
    if (!VALUE.test(value))
      throw invalidOption(option, "has a character that no header may have, such as a line break");
    checked[name] = value;
  }
  return checked;
}
