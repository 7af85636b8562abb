import { JsonlError } from '../errors.ts';
import type { SourceLocation } from '../source-location.ts';
import { ASCII } from './ascii.ts';

/**
 * JSON values that one line may hold, arrays and objects included. A value takes two bytes of a line and up to a few
 * hundred of memory, so the length of a line alone does not bound what reading it takes.
 */
export const MAX_LINE_VALUES = 250_000;

const { QUOTE, COMMA, OPEN_BRACKET, BACKSLASH, OPEN_BRACE } = ASCII;

/**
 * Counts the values of a JSON text from its bytes, as they arrive and before they are parsed: one for the text itself,
 * one for the first value after each opening bracket or brace, and one for each comma. So an empty array counts as two.
 * Invalid JSON is counted up to its error as a parser would see it.
 */
export class ValueCounter {
  #values = 1;
  #bytes = 0;
  #isInString = false;
  #isEscaped = false;

  /** Values so far. */
  get values(): number {
    return this.#values;
  }

  /** Bytes so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Continues with the next bytes of the text. */
  add(bytes: Uint8Array): void {
    let values = this.#values;
    let isInString = this.#isInString;
    let isEscaped = this.#isEscaped;
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at] as number;
      if (isInString) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isInString = false;
      } else if (byte === QUOTE) isInString = true;
      else if (byte === COMMA || byte === OPEN_BRACKET || byte === OPEN_BRACE) values += 1;
    }
    this.#values = values;
    this.#isInString = isInString;
    this.#isEscaped = isEscaped;
    this.#bytes += bytes.length;
  }
}

const PIECE_LENGTH = 64 * 1024;

/** Whether a JSON text, or its UTF-8 bytes, has more than `maxValues` values. It is read no further than needed. */
export function hasMoreValues(text: string | Uint8Array, maxValues: number): boolean {
  // As many values would take more characters.
  if (text.length < maxValues) return false;
  const counter = new ValueCounter();
  const encoder = new TextEncoder();
  for (let at = 0; at < text.length && counter.values <= maxValues; at += PIECE_LENGTH) {
    const end = at + PIECE_LENGTH;
    counter.add(typeof text === 'string' ? encoder.encode(text.slice(at, end)) : text.subarray(at, end));
  }
  return counter.values > maxValues;
}

/**
 * Refuses an item of more than `MAX_LINE_VALUES` values, as an archive refuses its line.
 *
 * @param text the item in JSON
 * @param location of the item, for errors
 * @throws JsonlError `line_too_long` with the location
 */
export function checkValueCount(text: Uint8Array, location?: SourceLocation): void {
  if (!hasMoreValues(text, MAX_LINE_VALUES)) return;
  throw new JsonlError('line_too_long', `An item must have at most ${MAX_LINE_VALUES} values`, location);
}
