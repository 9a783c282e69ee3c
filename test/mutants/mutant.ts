// A mutant: one rule broken in the sources, by one text in the place of another. Canaries (test/sim) break what stands around the
// code, and tell whether the simulator looks; mutants break the code, and tell whether the suite does.

export interface Mutant {
  readonly name: string;
  /** What does not hold any more. */
  readonly rule: string;
  /** From the root of the repository. */
  readonly file: string;
  /** Occurs in the file exactly once. */
  readonly search: string;
  readonly replacement: string;
  /** Test files of which at least one is expected to fail. */
  readonly noticedBy: readonly string[];
}

/**
 * The source with the rule broken.
 *
 * @throws where the text is not there, or more than once: then the mutant breaks nothing, or nobody knows what
 */
export function mutated({ name, file, search, replacement }: Mutant, source: string): string {
  const count = source.split(search).length - 1;
  if (count === 1) return source.replace(search, () => replacement);
  throw new Error(
    `The mutant ${name} does not fit: its text occurs ${count} times in ${file}, not once. Write it anew in test/mutants/mutants.ts.`,
  );
}
