import { invalidRow } from './raw-row.ts';

/** How fields and rows are set apart. Every character is one UTF-16 code unit. */
export interface CsvDialect {
  readonly separator: string;
  /** null: quotes are ordinary characters. */
  readonly quote: string | null;
  /** Whether a doubled quote inside quotes is one quote. */
  readonly doubledQuotes: boolean;
  readonly escape: string | null;
  /** Starts a comment that ends with the line. */
  readonly comment: string | null;
  readonly skipInitialSpace: boolean;
  readonly skipBlankLines: boolean;
}

/** A row of a CSV file. */
export interface CsvRecord {
  readonly fields: string[];
  /** 1-based line on which the record begins; quoted fields may go on over more. */
  readonly line: number;
  readonly size: number;
}

const LF = 10;
const CR = 13;

type State = 'record' | 'field' | 'plain' | 'quoted' | 'quote' | 'comment';

/**
 * Cuts CSV text into records as pandas' C parser does, which reads nearly everything: a quote counts only at the start of
 * a field, text behind a closing quote is kept, lines end with LF, CRLF or CR, blank lines are skipped. Holds one record
 * and the records of one piece of text.
 *
 * Throws TableError `invalid_row` for a record longer than `maxRowSize` and for a quote that is never closed.
 */
export class CsvTokenizer {
  readonly #dialect: CsvDialect;
  readonly #file: string;
  readonly #maxRowSize: number;
  readonly #separator: number;
  readonly #quote: number;
  readonly #escape: number;
  readonly #comment: number;

  #records: CsvRecord[] = [];
  #state: State = 'record';
  #fields: string[] = [];
  #field = '';
  #size = 0;
  #line = 1;
  #recordLine = 1;
  /** Whether the last character was a CR, so that an LF belongs to it. */
  #afterCr = false;
  #escaped = false;
  /** Whether the record so far holds nothing but blanks. */
  #blank = true;

  constructor(dialect: CsvDialect, file: string, maxRowSize: number) {
    this.#dialect = dialect;
    this.#file = file;
    this.#maxRowSize = maxRowSize;
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
          if (this.#state === 'quoted') this.#take('\n');
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
        this.#take(text.charAt(at));
      } else if (code === this.#escape && this.#state !== 'comment') {
        if (this.#state === 'record' || this.#state === 'field') this.#begin('plain');
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
              this.#take(text.slice(at, end));
              at = end;
              continue;
            }
            this.#take(text.charAt(at));
            break;
          }
          case 'quote':
            if (code === this.#quote && this.#dialect.doubledQuotes) {
              this.#take(text.charAt(at));
              this.#state = 'quoted';
              break;
            }
            this.#state = 'plain';
            this.#inPlain(text, at, code, newline);
            break;
          case 'plain': {
            const end = this.#plainEnd(text, at, this.#separator);
            if (end > at) {
              this.#take(text.slice(at, end));
              at = end;
              continue;
            }
            this.#inPlain(text, at, code, newline);
            break;
          }
          default:
            if (newline && this.#state === 'record') {
              if (this.#dialect.skipBlankLines) this.#recordLine = this.#line;
              else this.#endRecord();
            } else if (code === this.#comment && this.#state === 'record') {
              this.#state = 'comment';
            } else if (code === this.#quote) {
              this.#blank = false;
              this.#begin('quoted');
            } else if (code === 32 && this.#dialect.skipInitialSpace) {
              this.#begin('field');
            } else {
              this.#begin('plain');
              this.#inPlain(text, at, code, newline);
            }
        }
      }
      at += 1;
    }
    return this.#takeRecords();
  }

  /** The record that the file's end ends. */
  end(): CsvRecord[] {
    if (this.#state === 'quoted') {
      throw invalidRow('A quoted field is never closed', { file: this.#file, line: this.#recordLine });
    }
    if (this.#state !== 'record') this.#endRecord();
    return this.#takeRecords();
  }

  #takeRecords(): CsvRecord[] {
    const records = this.#records;
    this.#records = [];
    return records;
  }

  /** One character outside quotes that may end the field, the record, or neither. */
  #inPlain(text: string, at: number, code: number, newline: boolean): void {
    if (newline) {
      this.#endRecord();
    } else if (code === this.#separator) {
      this.#blank = false;
      this.#endField();
      this.#state = 'field';
    } else if (code === this.#comment) {
      this.#state = 'comment';
    } else {
      this.#take(text.charAt(at));
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

  #begin(state: State): void {
    this.#state = state;
  }

  #grow(length: number): void {
    this.#size += length;
    if (this.#size > this.#maxRowSize) {
      const location = { file: this.#file, line: this.#recordLine };
      throw invalidRow(`The row is longer than ${this.#maxRowSize} characters`, location);
    }
  }

  #take(text: string): void {
    this.#grow(text.length);
    if (this.#blank && /[^ \t]/.test(text)) this.#blank = false;
    this.#field += text;
  }

  #endField(): void {
    this.#fields.push(this.#field);
    this.#field = '';
    this.#grow(1);
  }

  #endRecord(): void {
    // A line of blanks is a blank line; a comment line does not count.
    const skipped = this.#blank && this.#fields.length === 0 && this.#dialect.skipBlankLines;
    this.#endField();
    const record = { fields: this.#fields, line: this.#recordLine, size: this.#size };
    this.#fields = [];
    this.#size = 0;
    this.#blank = true;
    this.#state = 'record';
    this.#recordLine = this.#line;
    if (!skipped) this.#records.push(record);
  }
}
