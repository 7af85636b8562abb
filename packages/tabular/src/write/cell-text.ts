/** A text of more UTF-16 code units than this is written in pieces, so that each step is short. */
const MAX_SHORT_LENGTH = 64 * 1024;

/** A long text in pieces that do not split characters. */
export class LongText {
  readonly #json: string;
  readonly #isString: boolean;

  /** @param isString whether `json` is a string, whose content is the value */
  constructor(json: string, isString: boolean) {
    this.#json = json;
    this.#isString = isString;
  }

  *pieces(): Generator<string> {
    const json = this.#json;
    const last = this.#isString ? json.length - 1 : json.length;
    for (let start = this.#isString ? 1 : 0; start < last; ) {
      let end = Math.min(start + MAX_SHORT_LENGTH, last);
      if (end < last) end = this.#isString ? outsideEscape(json, start, end) : end;
      if (end < last && isHighSurrogate(json.charCodeAt(end - 1))) end -= 1;
      const piece = json.slice(start, end);
      yield this.#isString && piece.includes('\\') ? (JSON.parse(`"${piece}"`) as string) : piece;
      start = end;
    }
  }
}

/**
 * The text of a cell: the value of a string, the JSON text of everything else; null for a null.
 * @example cellText('"a\\n"') // 'a\n'
 * @example cellText('[1.50]') // '[1.50]'
 */
export function cellText(json: string | null): string | LongText | null {
  if (json === null || json === 'null') return null;
  const isString = json.startsWith('"');
  if (json.length > MAX_SHORT_LENGTH) return new LongText(json, isString);
  if (!isString) return json;
  return json.includes('\\') ? (JSON.parse(json) as string) : json.slice(1, -1);
}

export function cellJson(json: string | null): string | LongText | null {
  if (json === null || json === 'null') return null;
  return json.length > MAX_SHORT_LENGTH ? new LongText(json, false) : json;
}

/** The last index up to `end` that is not inside an escape of a string; `start` is not. */
function outsideEscape(json: string, start: number, end: number): number {
  const backslash = json.lastIndexOf('\\', end - 1);
  // The longest escape, `\ud800`, has six characters.
  if (backslash < start || backslash < end - 5) return end;
  let first = backslash;
  while (first > start && json[first - 1] === '\\') first -= 1;
  // An even number of backslashes are escapes of each other.
  if ((backslash - first) % 2 === 1) return end;
  const length = json[backslash + 1] === 'u' ? 6 : 2;
  return backslash + length > end ? backslash : end;
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
