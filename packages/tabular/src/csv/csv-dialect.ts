const LF = 10;
const CR = 13;
const SPACE = 32;

/** How the fields and records of a CSV file are set apart. A character is one ASCII byte, and -1 if there is none. */
export interface CsvDialect {
  readonly delimiter: number;
  readonly quote: number;
  /** Takes the meaning from the next character. */
  readonly escape: number;
  /** Starts a comment that ends with the line. */
  readonly comment: number;
  /** Whether a doubled quote inside quotes is one quote. */
  readonly doublesQuotes: boolean;
  readonly skipsInitialSpace: boolean;
  readonly skipsBlankLines: boolean;
  /** Whether text after a closing quote continues the field, and a line of blanks is a blank line, as in pandas' C parser. */
  readonly isLenient: boolean;
}

/** The rules of RFC 4180. */
export const STRICT_RULES: Omit<CsvDialect, 'delimiter' | 'quote'> = {
  escape: -1,
  comment: -1,
  doublesQuotes: true,
  skipsInitialSpace: false,
  skipsBlankLines: true,
  isLenient: false,
};

/** The delimiter that the first line of a file states, as Excel reads it (`sep=;`); null for any other line. */
export function statedDelimiter(line: string): string | null {
  const [, stated] = /^"?sep=(\\t|[\x01-\x7f])"?$/i.exec(line) ?? [];
  // A letter is more likely the name of a column.
  if (stated === undefined || /^[a-z0-9"]$/i.test(stated)) return null;
  return stated === '\\t' ? '\t' : stated;
}

/** A byte that may end text without quotes. */
export const ENDS_TEXT = 1;
/** A byte that is not part of the text at the start of a field. */
export const BEGINS_FIELD = 2;

/** What each byte may do: {@link ENDS_TEXT}, {@link BEGINS_FIELD}. */
export function effectsOf({
  delimiter,
  quote,
  escape: escapeByte,
  comment,
  skipsInitialSpace,
}: CsvDialect): Uint8Array {
  const effects = new Uint8Array(256);
  // A table has no byte -1.
  for (const byte of [delimiter, LF, CR, escapeByte, comment]) effects[byte] = ENDS_TEXT | BEGINS_FIELD;
  for (const byte of [quote, skipsInitialSpace ? SPACE : -1])
    effects[byte] = (effects[byte] ?? 0) | BEGINS_FIELD;
  return effects;
}
