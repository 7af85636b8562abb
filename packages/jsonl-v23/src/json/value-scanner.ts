import { JsonlError } from '../errors.ts';
import { ASCII } from './ascii.ts';

const { TAB, LINE_FEED, CARRIAGE_RETURN, SPACE, QUOTE, COMMA, COLON, BACKSLASH } = ASCII;
const { OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE } = ASCII;

/** Finds the end of a value, in one or several pieces, by brackets and quotes; the parser checks what is between. */
export class ValueScanner {
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  #inScalar = false;

  get isOpen(): boolean {
    return this.#inString || this.#depth > 0;
  }

  reset(): void {
    this.#depth = 0;
    this.#inString = false;
    this.#isEscaped = false;
    this.#inScalar = false;
  }

  /** The index after the value; -1 if `text` ends first, and for a number or a word at the end of the last piece. */
  scan(text: string, start: number): number {
    let position = start;
    if (this.#inString) {
      position = this.#endOfString(text, start);
      if (position === -1 || this.#depth === 0) return position;
    }
    for (; position < text.length; position++) {
      const code = text.charCodeAt(position);
      if (this.#depth === 0 && this.#inScalar) {
        if (isDelimiter(code)) return position;
      } else if (code === QUOTE) {
        const end = this.#endOfString(text, position + 1);
        if (end === -1 || this.#depth === 0) return end;
        position = end - 1;
      } else if (code === OPEN_BRACKET || code === OPEN_BRACE) {
        this.#depth += 1;
      } else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) {
        if (this.#depth > 0) this.#depth -= 1;
        if (this.#depth === 0) return position + 1;
      } else if (this.#depth === 0) this.#inScalar = true;
    }
    return -1;
  }

  /** The index after the closing quote; -1 if the string continues in the next piece. */
  #endOfString(text: string, start: number): number {
    this.#inString = false;
    let from = start;
    if (this.#isEscaped) {
      if (start === text.length) return this.#continueString(true);
      from += 1;
    }
    this.#isEscaped = false;
    for (let position = from; ; ) {
      const quote = text.indexOf('"', position);
      const end = quote === -1 ? text.length : quote;
      const isEscaped = countBackslashes(text, position, end) % 2 === 1;
      if (quote === -1) return this.#continueString(isEscaped);
      if (!isEscaped) return quote + 1;
      position = quote + 1;
    }
  }

  #continueString(isEscaped: boolean): -1 {
    this.#inString = true;
    this.#isEscaped = isEscaped;
    return -1;
  }
}

function countBackslashes(text: string, start: number, end: number): number {
  let first = end;
  while (first > start && text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  return end - first;
}

/** White space, quotes, brackets, commas and colons cannot be part of a number or a word. */
function isDelimiter(code: number): boolean {
  switch (code) {
    case TAB:
    case LINE_FEED:
    case CARRIAGE_RETURN:
    case SPACE:
    case QUOTE:
    case COMMA:
    case COLON:
    case OPEN_BRACKET:
    case CLOSE_BRACKET:
    case OPEN_BRACE:
    case CLOSE_BRACE:
      return true;
    default:
      return false;
  }
}

/** For `skipValue`, which does not call itself. */
const scanner: ValueScanner = new ValueScanner();

/**
 * The index after the JSON value that starts at `start`, which is not checked further.
 *
 * @throws JsonlError `invalid_json` if the value has no end
 *
 * @example skipValue('{"a":[1,2]}', 5) // 10
 */
export function skipValue(text: string, start: number): number {
  scanner.reset();
  const end = scanner.scan(text, start);
  if (end !== -1) return end;
  if (scanner.isOpen || start >= text.length) {
    throw new JsonlError('invalid_json', 'Unterminated value');
  }
  return text.length;
}

/**
 * The index at which the value with a JSON Pointer (RFC 6901) begins, in the valid JSON text from `start`; if it does
 * not exist, the index of the innermost array or object around it. Takes time linear in the text.
 *
 * @example locateValue('{"a":[1,"x"]}', 0, '/a/1') // 8
 */
export function locateValue(text: string, start: number, pointer: string): number {
  let position = skipBlanks(text, start);
  for (const step of pointer.split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    const found = locateMember(text, position, key);
    if (found === -1) return position;
    position = found;
  }
  return position;
}

function locateMember(text: string, open: number, key: string): number {
  const isObject = text.charCodeAt(open) === OPEN_BRACE;
  if (!isObject && text.charCodeAt(open) !== OPEN_BRACKET) return -1;
  const close = isObject ? CLOSE_BRACE : CLOSE_BRACKET;
  let position = skipBlanks(text, open + 1);
  for (let index = 0; position < text.length && text.charCodeAt(position) !== close; index += 1) {
    let name: unknown = String(index);
    if (isObject) {
      const end = skipValue(text, position);
      name = JSON.parse(text.slice(position, end));
      // After the colon.
      position = skipBlanks(text, skipBlanks(text, end) + 1);
    }
    if (name === key) return position;
    position = skipBlanks(text, skipValue(text, position));
    if (text.charCodeAt(position) === COMMA) position = skipBlanks(text, position + 1);
  }
  return -1;
}

function skipBlanks(text: string, start: number): number {
  let position = start;
  for (;;) {
    const code = text.charCodeAt(position);
    if (code !== SPACE && code !== TAB && code !== LINE_FEED && code !== CARRIAGE_RETURN) return position;
    position += 1;
  }
}
