/** Steps that matching may still take; one value is shared by all patterns of a dataset. */
export interface MatchBudget {
  steps: number;
}

/**
 * A file pattern as the hub's own loader reads it: `*` (anything but a slash), `?` (one character but a slash),
 * `[a-z]`, `[!a-z]`, and `**` as a whole path part (any number of parts). Braces are ordinary characters.
 */
export interface Glob {
  readonly pattern: string;
  /** What every match starts with: the text before the first wildcard. */
  readonly literalPrefix: string;
  /** Whether the whole pattern is one path, without wildcards. */
  readonly literal: boolean;
  /** Takes its steps from the budget; once that is used up (below 0) the answer means nothing. */
  matches(path: string, budget?: MatchBudget): boolean;
}

/** One character of a path part: itself, any one, one of some, or (null) any number of any. */
type Token = null | ((character: string) => boolean);
/** One part of a pattern: its tokens, or (null) any number of whole parts. */
type Part = null | { text: string | null; tokens: Token[] };

/**
 * Matching costs at most the product of the lengths of pattern and path, because both are untrusted input. Null if `**` is
 * only a part of a path part, which has no meaning.
 */
export function compileGlob(pattern: string): Glob | null {
  const texts = pattern.split('/');
  if (texts.some((text) => text.includes('**') && text !== '**')) return null;
  const parts = texts.map(compilePart);
  const wildcard = pattern.search(/[*?[]/);
  return {
    pattern,
    literalPrefix: wildcard === -1 ? pattern : pattern.slice(0, wildcard),
    literal: wildcard === -1,
    matches: (path, budget = { steps: Number.POSITIVE_INFINITY }) =>
      matchSequence(
        parts,
        path.split('/'),
        (part, text) => part === null || matchPart(part, text, budget),
        budget,
      ),
  };
}

function compilePart(text: string): Part {
  if (text === '**') return null;
  if (!/[*?[]/.test(text)) return { text, tokens: [] };
  const characters = [...text];
  const tokens: Token[] = [];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] as string;
    if (character === '*') {
      if (tokens.at(-1) !== null) tokens.push(null);
    } else if (character === '?') {
      tokens.push(() => true);
    } else {
      const end = character === '[' ? endOfClass(characters, at) : -1;
      if (end === -1) {
        tokens.push((other) => other === character);
      } else {
        tokens.push(compileClass(characters.slice(at + 1, end)));
        at = end;
      }
    }
  }
  // A lone star is a name, and a name has a character.
  if (text === '*') tokens.unshift(() => true);
  return { text: null, tokens };
}

/** Where the class that opens at `start` is closed; a bracket that comes first is a member. -1 if it is not a class. */
function endOfClass(characters: readonly string[], start: number): number {
  let at = start + 1;
  if (characters[at] === '!') at += 1;
  if (characters[at] === ']') at += 1;
  while (at < characters.length && characters[at] !== ']') at += 1;
  return at < characters.length ? at : -1;
}

const codePointOf = (character = ''): number => character.codePointAt(0) ?? -1;

function compileClass(members: readonly string[]): (character: string) => boolean {
  const negated = members[0] === '!';
  const listed = negated ? members.slice(1) : members;
  const ranges: [number, number][] = [];
  for (let at = 0; at < listed.length; at += 1) {
    const low = codePointOf(listed[at]);
    if (listed[at + 1] === '-' && at + 2 < listed.length) {
      ranges.push([low, codePointOf(listed[at + 2])]);
      at += 2;
    } else {
      ranges.push([low, low]);
    }
  }
  return (character) => {
    const code = codePointOf(character);
    return ranges.some(([low, high]) => code >= low && code <= high) !== negated;
  };
}

function matchPart(
  part: { text: string | null; tokens: Token[] },
  text: string,
  budget: MatchBudget,
): boolean {
  if (part.text !== null) return part.text === text;
  return matchSequence(
    part.tokens,
    [...text],
    (token, character) => token === null || token(character),
    budget,
  );
}

/**
 * Whether the pattern covers all values, if null covers any number of them. Only the latest null needs another try:
 * what an earlier one could take more of, the latest can take too.
 */
function matchSequence<P, V>(
  pattern: readonly P[],
  values: readonly V[],
  fits: (item: P, value: V) => boolean,
  budget: MatchBudget,
): boolean {
  let at = 0;
  let next = 0;
  let star = -1;
  let resume = 0;
  while (at < values.length && budget.steps >= 0) {
    budget.steps -= 1;
    if (next < pattern.length && pattern[next] === null) {
      star = next;
      resume = at;
      next += 1;
    } else if (next < pattern.length && fits(pattern[next] as P, values[at] as V)) {
      at += 1;
      next += 1;
    } else if (star !== -1) {
      resume += 1;
      at = resume;
      next = star + 1;
    } else {
      return false;
    }
  }
  while (next < pattern.length && pattern[next] === null) next += 1;
  return next === pattern.length && at === values.length;
}
