const WORDS =
  'what is the number of apples that remain when three people share them and each one gives two away before noon while another buys half a dozen more at the market for a friend'.split(
    ' ',
  );
/** Words from which longer texts are cut: random choice of every word would take longer than what is measured. */
const POOL_WORDS = 40_000;

let pool = '';

/** One of the values. */
export function pick<T>(next: () => number, values: readonly T[]): T {
  return values[Math.floor(next() * values.length)] as T;
}

/** An integer from `from` up to and without `to`. */
export function between(next: () => number, from: number, to: number): number {
  return from + Math.floor(next() * (to - from));
}

/** English words of about this length in bytes. */
export function prose(next: () => number, byteLength: number): string {
  if (pool === '') pool = Array.from({ length: POOL_WORDS }, () => pick(next, WORDS)).join(' ');
  const start = between(next, 0, pool.length - byteLength);
  return pool.slice(start, start + byteLength).trim();
}

/** A value as Python's `json.dumps` writes it: blanks after `:` and `,`, and on request non-ASCII text as escapes. */
export function dumps(value: unknown, ensureAscii = false): string {
  if (Array.isArray(value)) return `[${value.map((element) => dumps(element, ensureAscii)).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(
      ([key, member]) => `${dumps(key, ensureAscii)}: ${dumps(member, ensureAscii)}`,
    );
    return `{${members.join(', ')}}`;
  }
  const text = JSON.stringify(value);
  return ensureAscii ? text.replace(/[\u0080-\uffff]/g, asciiEscape) : text;
}

function asciiEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
