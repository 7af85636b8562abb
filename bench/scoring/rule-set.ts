import type { LocatedLine } from '../../packages/evaluation/test/scoring-corpus.ts';

/** Published rules that score outputs, rewritten; see bench/README.md for what each is given. */
export interface RuleSet {
  readonly name: string;
  /** The form that the rules ask models to answer in. */
  readonly form: string;
  /** Whether the rules can know the item and the language. */
  fits(line: LocatedLine): boolean;
  /** Whether the output, right or not, has the form. */
  hasForm(line: LocatedLine): boolean;
  /** Whether they score the output as right. */
  passes(line: LocatedLine): boolean;
}

/** The output of a line, whose calls of tools no rule set reads. */
export const textOf = ({ output }: LocatedLine): string => (typeof output === 'string' ? output : '');

/** The letters of the choices that are the answer; null if the item has other labels, which letter rules cannot know. */
export function letterTargets({ choices, answer }: LocatedLine): readonly string[] | null {
  if (!Array.isArray(choices) || !choices.every((choice) => typeof choice === 'string')) return null;
  const targets: readonly unknown[] = Array.isArray(answer) ? answer : [answer];
  return choices.flatMap((choice, index) =>
    targets.includes(choice) ? [String.fromCharCode(65 + index)] : [],
  );
}

/**
 * Whether rules for letters are made for a line: letters as labels, no reasoning in the output, and a letter in it if it
 * states a choice.
 */
export function fitsLetters(line: LocatedLine, { most }: { readonly most: number }): boolean {
  const { checker, choices, picked } = line;
  if (checker !== 'choice' || isReasoning(line) || letterTargets(line) === null) return false;
  if (!Array.isArray(choices) || choices.length > most) return false;
  const letters = typeof picked === 'string' ? [picked] : (picked ?? []);
  const text = textOf(line).normalize('NFKC').toUpperCase();
  return letters.every((letter) => new RegExp(`(?<![A-Z])${letter}(?![A-Z])`).test(text));
}

/** Other tools take reasoning out before they score. */
export const isReasoning = ({ location }: LocatedLine): boolean => location.startsWith('reasoning.');
