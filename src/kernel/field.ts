// Fields: what a field of an event may hold. Not zod: every thread that heddle starts loads the table of event kinds, and a
// schema library would be more than half of what that costs.

/** The values a field takes, and their name in a complaint. */
export interface Field<T> {
  readonly expected: string;
  readonly takes: (value: unknown) => value is T;
}

export const text: Field<string> = {
  expected: "text",
  takes: (value) => typeof value === "string",
};

export const boolean: Field<boolean> = {
  expected: "true or false",
  takes: (value) => typeof value === "boolean",
};

/** Neither infinite nor not-a-number. */
export const finite: Field<number> = {
  expected: "a finite number",
  takes: (value): value is number => Number.isFinite(value),
};

/** A finite number from 0. */
export const amount: Field<number> = {
  expected: "a number of at least 0",
  takes: (value): value is number => finite.takes(value) && value >= 0,
};

/** A whole number from 0. */
export const count: Field<number> = {
  expected: "a whole number of at least 0",
  takes: (value): value is number => Number.isSafeInteger(value) && (value as number) >= 0,
};

/** A field that holds `T` and is not looked into. */
export function unchecked<T>(): Field<T> {
  return { expected: "anything", takes: (_value): _value is T => true };
}

export function oneOf<const T extends string | true>(...words: readonly T[]): Field<T> {
  return {
    expected: `one of ${words.join(", ")}`,
    takes: (value): value is T => words.some((word) => word === value),
  };
}

export function listOf<T>(item: Field<T>): Field<readonly T[]> {
  return {
    expected: `a list, each item ${item.expected}`,
    takes: (value): value is readonly T[] => Array.isArray(value) && value.every(item.takes),
  };
}

/** An object that has these and no others. */
export function objectOf<T extends object>(fields: { readonly [F in keyof T]-?: Field<T[F]> }): Field<T> {
  const known = Object.entries<Field<unknown>>(fields);
  return {
    expected: `an object, ${known.map(([name, { expected }]) => `${name} ${expected}`).join(", ")}`,
    takes: (value): value is T => {
      if (typeof value !== "object" || value === null) return false;
      const values = value as Readonly<Record<string, unknown>>;
      return (
        Object.keys(values).every((name) => Object.hasOwn(fields, name)) &&
        known.every(([name, { takes }]) => takes(values[name]))
      );
    },
  };
}

export function optional<T>({ expected, takes }: Field<T>): Field<T | undefined> {
  return {
    expected: `${expected}, or nothing`,
    takes: (value): value is T | undefined => value === undefined || takes(value),
  };
}
