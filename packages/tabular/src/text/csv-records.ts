import { invalidRow } from './raw-row.ts';

/** A row of a CSV file. */
export interface CsvRecord {
  readonly fields: string[];
  /** 1-based line on which the record begins; quoted fields may go on over more. */
  readonly line: number;
  readonly size: number;
}

/** Collects the fields of records. */
export class CsvRecords {
  readonly #file: string;
  readonly #maxRowSize: number;
  readonly #skipBlankLines: boolean;
  #records: CsvRecord[] = [];
  #fields: string[] = [];
  #field = '';
  #size = 0;
  /** Line on which the record begins. */
  startLine = 1;
  /** Whether the record so far has blanks only. */
  isBlank = true;

  constructor(file: string, maxRowSize: number, skipBlankLines: boolean) {
    this.#file = file;
    this.#maxRowSize = maxRowSize;
    this.#skipBlankLines = skipBlankLines;
  }

  /** Continues the field. @throws TableError `invalid_row` if the record becomes too long */
  append(text: string): void {
    this.#grow(text.length);
    if (this.isBlank && /[^ \t]/.test(text)) this.isBlank = false;
    this.#field += text;
  }

  /** Ends the field. @throws TableError `invalid_row` */
  endField(): void {
    this.#fields.push(this.#field);
    this.#field = '';
    this.#grow(1);
  }

  /** Ends the record; the next one begins on `nextLine`. @throws TableError `invalid_row` */
  endRecord(nextLine: number): void {
    // A line of blanks is a blank line; a comment line does not count.
    const isSkipped = this.isBlank && this.#fields.length === 0 && this.#skipBlankLines;
    this.endField();
    const record = { fields: this.#fields, line: this.startLine, size: this.#size };
    this.#fields = [];
    this.#size = 0;
    this.isBlank = true;
    this.startLine = nextLine;
    if (!isSkipped) this.#records.push(record);
  }

  /** Returns the records, and forgets them. */
  takeAll(): CsvRecord[] {
    const records = this.#records;
    this.#records = [];
    return records;
  }

  #grow(length: number): void {
    this.#size += length;
    if (this.#size > this.#maxRowSize) {
      const location = { file: this.#file, line: this.startLine };
      throw invalidRow(`The row is longer than ${this.#maxRowSize} characters.`, location);
    }
  }
}
