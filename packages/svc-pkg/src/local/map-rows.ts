import { type Item, JsonlError, type SourceLocation } from '@svc/jsonl-v23';
import {
  ImportErrors,
  type ImportMeter,
  itemSize,
  type LocatedError,
  type UnreadRow,
} from '@svc/jsonl-v23/internal';
import type { JsonObject } from '@svc/jsonl-v23/json';
import type { RowMapper } from '@svc/jsonl-v23/mapping';
import { locateError, type SkippedRows } from '@svc/tabular/internal';

/** A row with its location. */
export interface LocatedRow {
  readonly row: JsonObject;
  /** 0-based. */
  readonly rowIndex: number;
  readonly split: string;
  /** Why it cannot be read, if reading continues after such rows. */
  readonly unread?: UnreadRow | undefined;
}

const MAX_NAMED = 100;

/** Counts the rows that a mapping skips because they do not become items. */
export class SkippedCounter implements SkippedRows {
  #count = 0;
  readonly rows: JsonlError[] = [];

  get count(): number {
    return this.#count;
  }

  add(error: JsonlError): void {
    this.#count += 1;
    if (this.rows.length < MAX_NAMED) this.rows.push(error);
  }
}

/** What {@link mapRows} reports to. */
export interface RowSinks {
  /** Receives the rows that do not become items. */
  readonly invalid: { add(error: JsonlError): void };
  readonly meter: ImportMeter;
  /** The file with the rows, as errors name it. */
  readonly file?: string;
}

/**
 * The items of rows.
 *
 * @throws JsonlError `package_limit`; what the rows throw
 */
export async function* mapRows(
  batches: AsyncIterable<readonly LocatedRow[]>,
  toItem: RowMapper,
  { invalid, meter, file }: RowSinks,
): AsyncGenerator<Item> {
  for await (const batch of batches) {
    for (const { row, rowIndex, split, unread } of batch) {
      const location = file === undefined ? { row: rowIndex } : { file, row: rowIndex };
      let item: Item;
      meter.addRows(1, location);
      try {
        if (unread !== undefined) {
          throw new JsonlError('invalid_row', unread.message, { ...unread.location, row: rowIndex });
        }
        item = toItem(row, rowIndex, split);
      } catch (error) {
        if (!(error instanceof JsonlError)) throw error;
        invalid.add(file === undefined ? error : (locateError(error, file) as JsonlError));
        meter.addItems({ bytes: 0, skippedRows: 1 }, location);
        continue;
      }
      meterItem(meter, item, location);
      yield item;
    }
  }
}

/** Counts an item. @throws JsonlError `package_limit` */
export function meterItem(meter: ImportMeter, item: Item, location: SourceLocation): void {
  const { textBytes, base64Bytes } = itemSize(item);
  meter.addItems({ bytes: textBytes, embeddedBytes: Math.floor(base64Bytes * 0.75) }, location);
}

const MAX_ERRORS = 100;

/** Collects errors after which reading continues. */
export class ErrorCollector {
  readonly #errors: LocatedError[] = [];
  #total = 0;

  add(error: LocatedError): void {
    this.#total += 1;
    if (this.#errors.length < MAX_ERRORS) this.#errors.push(error);
  }

  /** Passes items on. @throws the only error, or ImportErrors, after the last item */
  async *atEndOf<T>(items: AsyncIterable<T>, isLast = true): AsyncGenerator<T> {
    yield* items;
    if (isLast) this.throwIfAny();
  }

  /** @throws the only error, or ImportErrors */
  throwIfAny(): void {
    const [first, ...others] = this.#errors;
    if (first === undefined) return;
    throw others.length === 0 ? first : new ImportErrors(first, this.#errors, this.#total);
  }
}
