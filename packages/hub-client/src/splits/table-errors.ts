import { type Table, TableError, type TableErrorCode } from '@svc/tabular/internal';
import { HubError, type HubErrorCode } from '../errors.ts';

const HUB_CODES = {
  invalid_row: 'invalid_row',
  column_not_found: 'column_not_found',
  damaged_file: 'hub_bad_response',
  unsupported_file: 'hub_unsupported_dataset',
  too_large: 'hub_unsupported_dataset',
  // A hub dataset has neither: its types come from its first rows, and its files have paths.
  type_changed: 'invalid_row',
  invalid_name: 'hub_unsupported_dataset',
} as const satisfies Record<TableErrorCode, HubErrorCode>;

/** The error of this package for an error of a table; any other error as it is. */
export function toHubError(error: unknown): unknown {
  if (!(error instanceof TableError)) return error;
  const { code, message, location } = error;
  return new HubError(HUB_CODES[code], message, { ...(location && { location }), cause: error });
}

/** The rows of a split, with errors of this package. */
export interface SplitTable extends Omit<Table, 'unreadRow'> {
  readonly unreadRow: HubError | undefined;
}

/** A table whose errors are errors of this package. */
export function withHubErrors(table: Table): SplitTable {
  const { unreadRow } = table;
  return {
    ...table,
    // It grows while rows are read.
    get warnings() {
      return table.warnings ?? [];
    },
    unreadRow: unreadRow && (toHubError(unreadRow) as HubError),
    read: (range) => mapErrors(table.read(range)),
  };
}

async function* mapErrors<T>(batches: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    yield* batches;
  } catch (error) {
    throw toHubError(error);
  }
}
