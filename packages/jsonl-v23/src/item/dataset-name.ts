/** The longest name of a dataset, a run or a section of a table, in code points. */
export const MAX_NAME_LENGTH = 255;

/** Control characters of Unicode: C0, delete and C1. */
const CONTROL = '\\u0000-\\u001f\\u007f-\\u009f';
/** Blanks other than control characters. */
const BLANK = ' \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff';

/**
 * The name of a dataset or a run, in JSON Schema: 1 to 255 code points, not all of them blank, no control characters. The
 * pattern has neither look-ahead nor property classes, which the regular expressions of other languages do not know.
 */
export const DATASET_NAME: { readonly minLength: 1; readonly maxLength: number; readonly pattern: string } = {
  minLength: 1,
  maxLength: MAX_NAME_LENGTH,
  pattern: `^[${BLANK}]*[^${BLANK}${CONTROL}][^${CONTROL}]*$`,
};

const PATTERN = new RegExp(DATASET_NAME.pattern, 'u');

/** The name of a section as a pattern of JSON Schema: any text without control characters. */
export const SECTION_NAME_PATTERN: string = `^[^${CONTROL}]*$`;

/** Whether a value is a well-formed string under the rules of {@link DATASET_NAME}. */
export function isDatasetName(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    // A code point has at most two units.
    value.length <= 2 * MAX_NAME_LENGTH &&
    [...value].length <= MAX_NAME_LENGTH &&
    value.isWellFormed() &&
    PATTERN.test(value)
  );
}

/** A text from a file or its name, as a section may be called: well-formed, without control characters. */
export function withoutControls(text: string): string {
  return text.toWellFormed().replaceAll(/\p{Cc}/gu, '');
}

/** A text from a file or its name, as a dataset may be called; `fallback` if nothing is left of it. */
export function toDatasetName(text: string, fallback: string): string {
  const plain = withoutControls(text).trim();
  return plain === '' ? fallback : [...plain].slice(0, MAX_NAME_LENGTH).join('');
}

/** What the `datasets` library accepts as the name of a split: `\w+(\.\w+)*` of Python, and not `all`. */
const SPLIT = /^[\p{L}\p{N}_]+(?:\.[\p{L}\p{N}_]+)*$/u;
const OTHER = /[^\p{L}\p{N}_.]|^\.|\.$|\.(?=\.)/gu;

const isSplit = (name: string): boolean => SPLIT.test(name) && name !== 'all';

/**
 * Names of splits for sections: a possible name keeps itself; in others, characters that no split may have become `_`, and
 * doubles get `_2`, `_3` and so on.
 *
 * @param sections their names, each once
 * @returns a name for each section, in the same order
 *
 * @example splitNames(['a b', 'a_b', 'all']) // ['a_b_2', 'a_b', 'all_2']
 */
export function splitNames(sections: readonly string[]): readonly string[] {
  const taken = new Set(sections.filter(isSplit));
  const next = new Map<string, number>();
  return sections.map((section) => {
    if (isSplit(section)) return section;
    const base = section.replaceAll(OTHER, '_') || '_';
    let name = base;
    for (let count = next.get(base) ?? 2; !isSplit(name) || taken.has(name); count += 1) {
      name = `${base}_${count}`;
      next.set(base, count + 1);
    }
    taken.add(name);
    return name;
  });
}
