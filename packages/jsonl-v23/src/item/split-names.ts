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
