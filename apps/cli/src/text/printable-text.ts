/** Longer values are cut where a person reads them. */
const MAX_VALUE_LENGTH = 200;

const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const escapeOf = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/**
 * Text that is safe on a terminal: control characters (C0, DEL, C1), line and paragraph separators and the marks
 * that reorder text are written as escapes. Archives and answers come from strangers, and a terminal obeys what it is
 * sent. With `keepLines`, line feeds stay.
 */
export function printableText(text: string, options: { readonly keepLines?: boolean } = {}): string {
  return text.replace(UNPRINTABLE, (character) =>
    character === '\n' && options.keepLines ? character : escapeOf(character),
  );
}

/**
 * The same JSON document with such characters as escapes, except its white space. Beyond that they can only stand in
 * strings, where an escape means the same.
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
