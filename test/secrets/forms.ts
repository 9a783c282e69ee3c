// Forms: how a text is looked for where it must not be, as it is and as what it became on the way.

/**
 * The text, its hex in both cases and as `inspect` shows a Buffer, and what of the base64 of anything that holds it is always the
 * same, by where in a group of three it begins.
 */
export function formsOf(text: string): readonly string[] {
  const hex = Buffer.from(text).toString("hex");
  const base64 = [0, 1, 2].map((before) =>
    Buffer.from("\0".repeat(before) + text)
      .toString("base64")
      .slice(Math.ceil((before * 8) / 6), Math.floor(((before + text.length) * 8) / 6)),
  );
  return [
    text,
    hex,
    hex.toUpperCase(),
    hex.replaceAll(/..(?!$)/g, "$& "),
    ...base64,
    ...base64.map((form) => form.replaceAll("+", "-").replaceAll("/", "_")),
  ];
}
