import { type CsvRecord, CsvRecords } from './csv-records.ts';
import { invalidRow } from './raw-row.ts';

/** How fields and rows are set apart. Every character is one UTF-16 code unit. */
export interface CsvDialect {
  readonly separator: string;
  /** Null if quotes are ordinary characters. */
  readonly quote: string | null;
  /** Whether a doubled quote inside quotes is one quote. */
  readonly doubledQuotes: boolean;
  readonly escape: string | null;
  /** Starts a comment that ends with the line. */
  readonly comment: string | null;
  readonly skipInitialSpace: boolean;
  readonly skipBlankLines: boolean;
}

const LF = 10;
const CR = 13;

type State = 'record' | 'field' | 'plain' | 'quoted' | 'quote' | 'comment';

/**
 * Splits CSV text into records as pandas' C parser does, which accepts nearly everything: a quote counts only at the start
 * of a field, text after a closing quote is kept, lines end with LF, CRLF or CR, blank lines are skipped. One record and
 * the records of one piece of text are in memory.
 *
 * @throws TableError `invalid_row` for a record longer than `maxRowSize` and for a quote without an end
 */
export class CsvTokenizer {
  readonly #dialect: CsvDialect;
  readonly #file: string;
  readonly #separator: number;
  readonly #quote: number;
  readonly #escape: number;
  readonly #comment: number;

  readonly #records: CsvRecords;
  #state: State = 'record';
  #line = 1;
  /** Whether the last character was a CR, so that an LF belongs to it. */
  #afterCr = false;
  #escaped = false;

  constructor(dialect: CsvDialect, file: string, maxRowSize: number) {
    this.#dialect = dialect;
    this.#file = file;
    this.#records = new CsvRecords(file, maxRowSize, dialect.skipBlankLines);
    this.#separator = dialect.separator.charCodeAt(0);
    this.#quote = dialect.quote === null ? -1 : dialect.quote.charCodeAt(0);
    this.#escape = dialect.escape === null ? -1 : dialect.escape.charCodeAt(0);
    this.#comment = dialect.comment === null ? -1 : dialect.comment.charCodeAt(0);
  }

  /** The records that end in this piece of text. */
  add(text: string): CsvRecord[] {
    let at = 0;
    while (at < text.length) {
      const code = text.charCodeAt(at);
      const newline = code === LF || code === CR;
      if (this.#afterCr) {
        this.#afterCr = false;
        if (code === LF) {
          // The second half of a line end; inside quotes it is data like the first.
          if (this.#state === 'quoted') this.#records.append('\n');
          at += 1;
          continue;
        }
      }
      if (newline) {
        this.#line += 1;
        this.#afterCr = code === CR;
      }
      if (this.#escaped) {
        this.#escaped = false;
        this.#records.append(text.charAt(at));
      } else if (code === this.#escape && this.#state !== 'comment') {
        if (this.#state === 'record' || this.#state === 'field') this.#state = 'plain';
        this.#escaped = true;
      } else {
        switch (this.#state) {
          case 'comment':
            if (newline) this.#endRecord();
            break;
          case 'quoted': {
            if (code === this.#quote) {
              this.#state = 'quote';
              break;
            }
            const end = this.#plainEnd(text, at, this.#quote);
            if (end > at) {
              this.#records.append(text.slice(at, end));
              at = end;
              continue;
            }
            this.#records.append(text.charAt(at));
            break;
          }
          case 'quote':
            if (code === this.#quote && this.#dialect.doubledQuotes) {
              this.#records.append(text.charAt(at));
              this.#state = 'quoted';
              break;
            }
            this.#state = 'plain';
            this.#inPlain(text, at, code, newline);
            break;
          case 'plain': {
            const end = this.#plainEnd(text, at, this.#separator);
            if (end > at) {
              this.#records.append(text.slice(at, end));
              at = end;
              continue;
            }
            this.#inPlain(text, at, code, newline);
            break;
          }
          default:
            if (newline && this.#state === 'record') {
              if (this.#dialect.skipBlankLines) this.#records.startLine = this.#line;
              else this.#endRecord();
            } else if (code === this.#comment && this.#state === 'record') {
              this.#state = 'comment';
            } else if (code === this.#quote) {
              this.#records.isBlank = false;
              this.#state = 'quoted';
            } else if (code === 32 && this.#dialect.skipInitialSpace) {
              this.#state = 'field';
            } else {
              this.#state = 'plain';
              this.#inPlain(text, at, code, newline);
            }
        }
      }
      at += 1;
    }
    return this.#records.takeAll();
  }

  /** The record that the file's end ends. */
  end(): CsvRecord[] {
    if (this.#state === 'quoted') {
      throw invalidRow('A quoted field has no closing quote.', {
        file: this.#file,
        line: this.#records.startLine,
      });
    }
    if (this.#state !== 'record') this.#endRecord();
    return this.#records.takeAll();
  }

  /** One character outside quotes that may end the field, the record, or neither. */
  #inPlain(text: string, at: number, code: number, newline: boolean): void {
    if (newline) {
      this.#endRecord();
    } else if (code === this.#separator) {
      this.#records.isBlank = false;
      this.#records.endField();
      this.#state = 'field';
    } else if (code === this.#comment) {
      this.#state = 'comment';
    } else {
      this.#records.append(text.charAt(at));
    }
  }

  /** Where text without a special character ends; `stop` ends it, as line ends do. */
  #plainEnd(text: string, start: number, stop: number): number {
    let at = start;
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === stop || code === LF || code === CR || code === this.#escape || code === this.#comment)
        break;
    }
    return at;
  }

  #endRecord(): void {
    this.#records.endRecord(this.#line);
    this.#state = 'record';
  }
}
