import { checkColumnCount, type TableError } from '../errors.ts';
import { utf8Text } from '../text/encodings.ts';
import { type CsvScanner, DOUBLED, VERBATIM } from './csv-scanner.ts';

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

export class FieldReader {
  readonly #scanner: CsvScanner;
  #content: Uint8Array = new Uint8Array(0);

  constructor(scanner: CsvScanner) {
    this.#scanner = scanner;
  }

  /** The text of a field; null if it is not UTF-8. */
  text(index: number): string | null {
    const { bytes, starts, ends, escaped } = this.#scanner;
    try {
      if (escaped[index] === VERBATIM) return utf8Text(bytes, starts[index], ends[index]);
      const length = this.#unescape(index);
      return utf8Text(this.#content, 0, length);
    } catch {
      return null;
    }
  }

  /** The texts of all fields, which name columns. @throws TableError `invalid_row`; `unsupported_file` for too many */
  names(): string[] {
    checkColumnCount(this.#scanner.fieldCount);
    return Array.from({ length: this.#scanner.fieldCount }, (_, index) => {
      const text = this.text(index);
      if (text === null) throw this.notUtf8(index);
      return text;
    });
  }

  wrongWidth(width: number): TableError {
    const { fieldCount, ends } = this.#scanner;
    const at = ends[Math.min(fieldCount, width) - 1] as number;
    return this.#scanner.error(`The row must have ${width} fields, got ${fieldCount}.`, at);
  }

  notUtf8(index: number): TableError {
    const { bytes, starts, ends } = this.#scanner;
    const start = starts[index] as number;
    const text = decoder.decode(bytes.subarray(start, ends[index]));
    const before = new TextEncoder().encode(text.slice(0, Math.max(0, text.indexOf('\uFFFD')))).length;
    return this.#scanner.error('The line is not UTF-8 text.', start + before);
  }

  #unescape(index: number): number {
    const { starts, ends } = this.#scanner;
    const size = (ends[index] as number) - (starts[index] as number);
    if (this.#content.length < size) this.#content = new Uint8Array(2 * size);
    return unescapeField(this.#scanner, index, this.#content);
  }
}

/** Copies a field that is not {@link VERBATIM}, without the quotes around it, doubled quotes and escapes. @returns its length */
function unescapeField(
  { bytes, starts, ends, escaped, dialect }: CsvScanner,
  index: number,
  target: Uint8Array,
): number {
  const { quote, escape: escapeByte, doublesQuotes } = dialect;
  const end = ends[index] as number;
  let at = starts[index] as number;
  let length = 0;
  if (escaped[index] === DOUBLED) {
    for (; at < end; at += 1) {
      const byte = bytes[at] as number;
      target[length] = byte;
      length += 1;
      if (byte === quote) at += 1;
    }
    return length;
  }
  let isQuoted = bytes[at] === quote && quote !== escapeByte;
  if (isQuoted) at += 1;
  for (; at < end; at += 1) {
    if (bytes[at] === escapeByte) {
      at += 1;
      if (at === end) break;
    } else if (isQuoted && bytes[at] === quote) {
      // A quote that is not the first of two ends the quotes, and text follows.
      isQuoted = doublesQuotes && bytes[at + 1] === quote && at + 1 < end;
      if (!isQuoted) continue;
      at += 1;
    }
    target[length] = bytes[at] as number;
    length += 1;
  }
  return length;
}

/** The names of columns without a header. @throws TableError `unsupported_file` for more columns than a table may have */
export function numberedNames(count: number): string[] {
  checkColumnCount(count);
  return Array.from({ length: count }, (_, index) => String(index));
}

/** Column names as pandas makes them: empty ones are numbered, repeated ones get `.1`, `.2` and so on. */
export function uniqueNames(header: readonly string[]): string[] {
  const names = header.map((name, index) => (name === '' ? `Unnamed: ${index}` : name));
  const taken = new Set(names);
  const counts = new Map<string, number>();
  // Names from the file take precedence over generated ones.
  const order = [...names.keys()].sort(
    (a, b) => Number(header[a] === '') - Number(header[b] === '') || a - b,
  );
  for (const index of order) {
    const original = names[index] as string;
    let name = original;
    let count = counts.get(name) ?? 0;
    while (count > 0) {
      counts.set(original, count + 1);
      name = `${original}.${count}`;
      count = taken.has(name) ? count + 1 : (counts.get(name) ?? 0);
    }
    names[index] = name;
    taken.add(name);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return names;
}
