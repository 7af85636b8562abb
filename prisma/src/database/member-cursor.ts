const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * The members of an object, one after another, from its canonical JSON text in UTF-8. Nothing is decoded or copied.
 *
 * @example
 * cursor.open(bytes, 0);
 * while (cursor.next()) if (cursor.isKey(NAME)) return bytes.subarray(cursor.valueStart, cursor.valueEnd);
 */
export class MemberCursor {
  /** Where the key starts and ends, between its quotes. */
  keyStart = 0;
  keyEnd = 0;
  valueStart = 0;
  bytes: Uint8Array = new Uint8Array();
  /** -1 until somebody asks. */
  #valueEnd = 0;

  /** @param start of a value; one that is no object has no members */
  open(bytes: Uint8Array, start: number): void {
    this.bytes = bytes;
    this.#valueEnd = start;
  }

  /** Goes to the next member. @returns whether there is one */
  next(): boolean {
    const { bytes, valueEnd } = this;
    const separator = bytes[valueEnd];
    if ((separator !== COMMA && separator !== OPEN_BRACE) || bytes[valueEnd + 1] !== QUOTE) return false;
    this.keyStart = valueEnd + 2;
    this.keyEnd = endOfString(bytes, this.keyStart - 1) - 1;
    this.valueStart = this.keyEnd + 2;
    this.#valueEnd = -1;
    return true;
  }

  get valueEnd(): number {
    if (this.#valueEnd === -1) this.#valueEnd = endOfValue(this.bytes, this.valueStart);
    return this.#valueEnd;
  }

  /** Whether the value begins with a quote. */
  get isString(): boolean {
    return this.bytes[this.valueStart] === QUOTE;
  }

  /** Whether the value is an array that has elements. */
  get isFilledArray(): boolean {
    return this.bytes[this.valueStart] === OPEN_BRACKET && this.bytes[this.valueStart + 1] !== CLOSE_BRACKET;
  }

  /** @param name in UTF-8, which needs no escapes */
  isKey(name: Uint8Array): boolean {
    const length = this.keyEnd - this.keyStart;
    if (length !== name.length) return false;
    for (let at = 0; at < length; at += 1) if (this.bytes[this.keyStart + at] !== name[at]) return false;
    return true;
  }

  key(): string {
    const quoted = utf8(this.bytes, this.keyStart - 1, this.keyEnd + 1);
    return quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
  }
}

export function utf8({ buffer, byteOffset }: Uint8Array, start: number, end: number): string {
  return Buffer.from(buffer, byteOffset + start, end - start).toString();
}

/** Longer strings are searched by the runtime, for which a call costs more than a few bytes. */
const SHORT_BYTES = 24;

/** The position after the string that begins at `quote`. */
function endOfString(bytes: Uint8Array, quote: number): number {
  let at = quote + 1;
  for (const end = at + SHORT_BYTES; at < end; at += 1) {
    if (bytes[at] === QUOTE) return at + 1;
    if (bytes[at] === BACKSLASH) at += 1;
  }
  for (at -= 1; ; ) {
    at = bytes.indexOf(QUOTE, at + 1);
    if (at === -1) return bytes.length;
    let before = at - 1;
    while (bytes[before] === BACKSLASH) before -= 1;
    if ((at - before) % 2 === 1) return at + 1;
  }
}

/** The position after the value that begins at `start`, inside an array or object. */
function endOfValue(bytes: Uint8Array, start: number): number {
  let depth = 0;
  let at = start;
  while (at < bytes.length) {
    const code = bytes[at];
    if (code === QUOTE) at = endOfString(bytes, at);
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth += 1;
      at += 1;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      if (depth === 0) return at;
      depth -= 1;
      at += 1;
    } else if (code === COMMA && depth === 0) return at;
    else at += 1;
  }
  return at;
}
