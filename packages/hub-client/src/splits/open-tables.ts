import {
  type ByteSource,
  openParquetTable,
  openTextTables,
  type TextTablesOptions,
} from '@svc/tabular/internal';
import { featuresFromYaml } from '../repository/card-features.ts';
import { createPacer } from './pacer.ts';
import { needsRowCounts, resolveSplit, type SplitExpression } from './split-slice.ts';
import type { Subset, SubsetSplit } from './subset.ts';
import { type SplitTable, withHubErrors } from './table-errors.ts';

/** Parquet files of one split whose footers are all read for rows and columns that the card does not declare. */
const MAX_COUNTED_FILES = 32;

/**
 * Opens the splits that an expression names, by the format of their subset.
 *
 * @throws HubError `hub_split_not_found`, `hub_unsupported_dataset`, and those of reading; TableError
 */
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
