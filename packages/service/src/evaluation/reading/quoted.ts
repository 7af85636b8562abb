const MAX_CHARS = 120;
/** A shorter run of characters is no key. */
const MIN_KEY_CHARS = 16;
const MAX_KEY_CHARS = 512;
const KEY_CHARACTER = /[\w.~+/=-]/;

/**
 * The words of a text in which an answer was found, as an explanation quotes them: one line, and not long. They hold a
 * key whole or not at all: parts of it would not be replaced as a secret.
 *
 * @param start index of the first character, by default of the whole text
 * @param end index after the last one
 */
export function quoted(text: string, start = 0, end: number = text.length): string {
  const from = start - runLength(text, start, -1);
  const line = text.slice(from, Math.min(end + runLength(text, end, 1), from + 8 * MAX_CHARS));
  const words = line.replaceAll(/\s+/g, ' ').trim();
  if (words.length <= MAX_CHARS) return words;
  let cut = MAX_CHARS;
  while (cut > 0 && KEY_CHARACTER.test(words[cut - 1] ?? '') && KEY_CHARACTER.test(words[cut] ?? ''))
    cut -= 1;
  return `${words.slice(0, cut).toWellFormed()}…`;
}

/** How far a run that may be a key, and that a border divides, goes on in a direction. */
function runLength(text: string, border: number, step: 1 | -1): number {
  const length = (at: number, to: 1 | -1): number => {
    let chars = 0;
    while (chars < MAX_KEY_CHARS && KEY_CHARACTER.test(text[at + chars * to] ?? ' ')) chars += 1;
    return chars;
  };
  const before = length(border - 1, -1);
  const after = length(border, 1);
  const outside = step === 1 ? after : before;
  return before > 0 && after > 0 && before + after >= MIN_KEY_CHARS ? outside : 0;
}

/** The explanation of a check that compares a whole text. */
export const compared = (text: string): string =>
  text.length > MAX_CHARS ? `Compared ${text.length} characters` : `Compared ${JSON.stringify(text)}`;
