/** Longer values are cut in text for people. */
const MAX_VALUE_LENGTH = 200;

const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const escapeOf = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/**
 * Makes text safe for a terminal, because archives and responses are untrusted input: escapes control characters (C0,
 * DEL, C1), line and paragraph separators, and the marks that reorder text. With `keepLines`, line feeds stay.
 */
export function printableText(text: string, options: { readonly keepLines?: boolean } = {}): string {
  return text.replace(UNPRINTABLE, (character) =>
    character === '\n' && options.keepLines ? character : escapeOf(character),
  );
}

/** The same for lines of data, with tabs and the ends of lines. */
export function printableData(text: string): string {
  return text.replace(UNPRINTABLE, (character, index: number) => {
    const isSpace = character === '\n' || character === '\t';
    return isSpace || (character === '\r' && text[index + 1] === '\n') ? character : escapeOf(character);
  });
}

/**
 * Escapes the same characters in a JSON document, except its white space. Elsewhere they can only be in strings, where
 * an escape means the same.
 */
export function printableJson(document: string): string {
  return document.replace(UNPRINTABLE, (character) =>
    character === '\n' || character === '\r' || character === '\t' ? character : escapeOf(character),
  );
}

/** One line of printable text, cut after 200 characters. */
export function printableValue(text: string): string {
  const shown =
    text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH - 1).toWellFormed()}…` : text;
  return printableText(shown);
}
