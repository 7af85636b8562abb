import { JsonlError } from './errors.ts';
import type { JsonObject } from './json/json-value.ts';
import type { SourceLocation } from './source-location.ts';

export interface ImportLimits {
  /** Bytes of the texts of all items, and of the files that they embed, once for each item. */
  readonly maxTotalBytes: number;
  /** Bytes of the texts over the bytes of the files that the rows are in, past the first 64 MiB. */
  readonly maxExpansionRatio: number;
  /** Rows, also rows that do not become items. */
  readonly maxRows: number;
}

export const DEFAULT_IMPORT_LIMITS: ImportLimits = {
  maxTotalBytes: 20 * 1024 ** 3,
  maxExpansionRatio: 500,
  maxRows: 50_000_000,
};

/** Nulls and repeated values take almost no space in a file, so even small files may expand to this size. */
export const FREE_EXPANSION_BYTES: number = 64 * 1024 * 1024;

/** A row that does not become an item takes longer than a short item: its error is made. */
const SKIPPED_ROW_BYTES = 256;

/** How each limit is called in the place where an operator sets it. */
export type LimitNames = Readonly<Record<keyof ImportLimits, string>>;

/** Decides alone whether an import makes too much, for every source and also if nothing is stored. */
export class ImportMeter {
  readonly #limits: ImportLimits;
  readonly #names: LimitNames | undefined;
  #fileBytes: number | null = null;
  #rows = 0;
  #textBytes = 0;
  #embeddedBytes = 0;

  /** @param names for messages; by default the names of the options */
  constructor(limits: ImportLimits = DEFAULT_IMPORT_LIMITS, names?: LimitNames) {
    this.#limits = limits;
    this.#names = names;
  }

  /** Sets the bytes of the files that the rows are in; from then on, their expansion is limited. */
  setFileBytes(bytes: number): void {
    this.#fileBytes = bytes;
  }

  /** Counts rows that were read, before they become items. @throws JsonlError `package_limit` */
  addRows(count: number, location: SourceLocation = {}): void {
    const { maxRows } = this.#limits;
    this.#rows += count;
    if (this.#rows > maxRows) throw this.#error('maxRows', `must read at most ${maxRows} rows`, location);
  }

  /** Counts canonical texts, their embedded files, and rows without an item. @throws JsonlError `package_limit` */
  addItems(
    {
      bytes,
      embeddedBytes = 0,
      skippedRows = 0,
    }: { readonly bytes: number; readonly embeddedBytes?: number; readonly skippedRows?: number },
    location: SourceLocation = {},
  ): void {
    const { maxTotalBytes, maxExpansionRatio } = this.#limits;
    this.#textBytes += bytes + skippedRows * SKIPPED_ROW_BYTES;
    this.#embeddedBytes += embeddedBytes;
    if (this.#textBytes + this.#embeddedBytes > maxTotalBytes) {
      throw this.#error('maxTotalBytes', `must make at most ${maxTotalBytes} bytes of items`, location);
    }
    const fileBytes = this.#fileBytes;
    if (fileBytes === null) return;
    if (this.#textBytes <= Math.max(FREE_EXPANSION_BYTES, fileBytes * maxExpansionRatio)) return;
    const problem = `must make at most ${maxExpansionRatio} times the ${fileBytes} bytes of its files, past ${FREE_EXPANSION_BYTES} bytes`;
    throw this.#error('maxExpansionRatio', problem, location);
  }

  #error(limit: keyof ImportLimits, problem: string, location: SourceLocation): JsonlError {
    const place = location.row === undefined ? '' : `, exceeded at row ${location.row}`;
    return new JsonlError(
      'package_limit',
      `The import ${problem} (${this.#names?.[limit] ?? limit})${place}`,
      location,
    );
  }
}

export interface LocatedError extends Error {
  readonly code: string;
  readonly location: SourceLocation;
}

/** Several errors that end one import. It has the code, message and location of the first. */
export class ImportErrors<E extends LocatedError> extends Error {
  override readonly name = 'ImportErrors';
  readonly code: E['code'];
  readonly location: SourceLocation;
  /** The first 100. */
  readonly errors: readonly E[];
  readonly total: number;

  constructor(first: E, errors: readonly E[], total: number) {
    super(first.message, { cause: first });
    this.code = first.code;
    this.location = first.location;
    this.errors = errors;
    this.total = total;
  }
}

export interface UnreadRow {
  readonly message: string;
  readonly location: SourceLocation;
}

/** By index in the batch. Null past the first {@link MAX_UNREAD_REASONS}: a file may have millions of such rows. */
export type UnreadRows = ReadonlyMap<number, UnreadRow | null>;

export const MAX_UNREAD_REASONS = 100;

export const NO_REASON: UnreadRow = { message: 'The row cannot be read.', location: {} };

/** Says that items have nothing to ask, probably a mistake. @param among what they are counted among, if not all */
export function promptWarnings(count: number, among?: string): string[] {
  if (count === 0) return [];
  const items = count === 1 ? '1 item has' : `${count} items have`;
  return [
    `${items} neither a prompt nor messages${among === undefined ? '' : `, of ${among}`}: runs do not ask a model for them.`,
  ];
}

const MAX_LISTED = 100;

/** What responses say of columns that no key of a mapping uses: nothing if there are none. */
export function unusedColumnsJson(columns: Iterable<string>): JsonObject {
  const names = [...columns];
  if (names.length === 0) return {};
  const total = names.length > MAX_LISTED ? { unused_columns_total: names.length } : {};
  return { unused_columns: names.slice(0, MAX_LISTED), ...total };
}
