import {
  type ByteSource,
  openParquetTable,
  openTextTables,
  type Table,
  TableError,
  type TableErrorCode,
  type TextTablesOptions,
} from '@svc/tabular';
import { HubError, type HubErrorCode } from '../errors.ts';
import { featuresFromYaml } from '../repository/card-features.ts';
import { createPacer } from './pacer.ts';
import { needsRowCounts, resolveSplit, type SplitExpression } from './split-slice.ts';
import type { Subset, SubsetSplit } from './subset.ts';

/** Parquet files of one split whose footers are all read for rows and columns that the card does not declare. */
const MAX_COUNTED_FILES = 32;

export async function openTables(
  subset: Subset,
  expression: SplitExpression,
  open: (path: string) => ByteSource,
  { textColumns, skipsInvalid, signal }: Pick<TextTablesOptions, 'textColumns' | 'skipsInvalid' | 'signal'>,
): Promise<Map<string, SplitTable>> {
  const splits = namedSplits(subset, expression);
  const pace = createPacer();
  const filesOf = async (split: SubsetSplit): Promise<ByteSource[]> => {
    const files: ByteSource[] = [];
    await pace(split.files, ({ path }) => files.push(open(path)));
    return files;
  };
  const declared = featuresFromYaml(subset.declaredFeatures) ?? undefined;
  const mustCount = needsRowCounts(expression);

  if (subset.format !== 'parquet') {
    const files = new Map<string, readonly ByteSource[]>();
    for (const split of splits) files.set(split.name, await filesOf(split));
    const tables = await openTextTables(files, {
      format: subset.format ?? 'text',
      params: subset.params,
      declared,
      count: new Set(mustCount ? splits.map(({ name }) => name) : []),
      signal,
      textColumns,
      skipsInvalid,
    });
    return new Map([...tables].map(([name, table]) => [name, withHubErrors(table)]));
  }
  const startsLater = expression.parts.some(({ from }) => from !== null && from !== 0n);
  const tables = new Map<string, SplitTable>();
  for (const split of splits) {
    const isDeclared = split.declaredRows !== null && declared !== undefined;
    const isSmall = split.files.length <= MAX_COUNTED_FILES;
    const everyFooter = mustCount || startsLater || (!isDeclared && isSmall);
    const table = await openParquetTable(await filesOf(split), { declared, everyFooter, signal });
    tables.set(split.name, withHubErrors(table));
  }
  return tables;
}

/** The splits of an expression, each once. @throws HubError `hub_split_not_found` */
export function namedSplits(subset: Subset, expression: SplitExpression): readonly SubsetSplit[] {
  if (expression.all) return subset.splits;
  const named = expression.parts.map((part) => subset.splits.find(({ name }) => name === part.split));
  if (named.includes(undefined)) {
    // Without counts, this reports the unknown name before it reports missing counts.
    resolveSplit(
      expression,
      subset.splits.map(({ name }) => ({ name })),
    );
  }
  return [...new Set(named.filter((split) => split !== undefined))];
}

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

export interface SplitTable extends Omit<Table, 'unreadRow'> {
  readonly unreadRow: HubError | undefined;
}

/** A table whose errors are errors of this package. */
function withHubErrors(table: Table): SplitTable {
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
