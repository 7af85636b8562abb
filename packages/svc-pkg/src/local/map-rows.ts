import { type Item, JsonlError } from '@svc/jsonl-v23';
import type { UnreadRow } from '@svc/jsonl-v23/internal';
import type { JsonObject } from '@svc/jsonl-v23/json';
import type { RowMapper } from '@svc/jsonl-v23/mapping';
import type { SkippedRows } from '@svc/tabular/internal';

/** A row with its location. */
export interface LocatedRow {
  readonly row: JsonObject;
  /** 0-based. */
  readonly rowIndex: number;
  readonly split: string;
  /** Why it cannot be read, where reading goes on after such rows. */
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

/**
 * The items of rows.
 *
 * @param skipped receives the rows that do not become items; null if such a row is an error
 * @param file with the rows, for errors
 * @throws JsonlError `invalid_row`, `assets_not_object` with the row; what the rows throw
 */
export async function* mapRows(
  batches: AsyncIterable<readonly LocatedRow[]>,
  toItem: RowMapper,
  skipped: { add(error: JsonlError): void } | null,
  file?: string,
): AsyncGenerator<Item> {
  for await (const batch of batches) {
    for (const { row, rowIndex, split, unread } of batch) {
      let item: Item;
      try {
        if (unread !== undefined) {
          const { message, location } = unread;
          throw new JsonlError('invalid_row', message, { ...location, row: rowIndex });
        }
        item = toItem(row, rowIndex, split);
      } catch (error) {
        if (!(error instanceof JsonlError)) throw error;
        if (skipped === null) throw inFile(error, file);
        skipped.add(inFile(error, file));
        continue;
      }
      yield item;
    }
  }
}

function inFile(error: JsonlError, file: string | undefined): JsonlError {
  if (file === undefined || error.location.file !== undefined) return error;
  return new JsonlError(error.code, error.message, { ...error.location, file }, { cause: error });
}
