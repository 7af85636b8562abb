import type { LabelledResult, OpenRun } from '@svc/store';
import { fileBaseName } from './file-base-name.ts';
import { type TableExport, type TableOptions, tableExport } from './table-export.ts';

/**
 * The results of an open run in item order as a table: stored texts → cells → JSON Lines, CSV or Parquet. Holds one
 * batch and what the format needs. The caller closes the run when the bytes have been taken, or are not needed.
 */
export function resultsTable(open: OpenRun, options: TableOptions<LabelledResult>): TableExport {
  const { id, name, finishedAt, counts, retries, resultsWritten } = open.run;
  const source = [id, finishedAt, counts, retries, resultsWritten, open.labelsState];
  const table = {
    baseName: `${fileBaseName(name ?? '', `run-${id}`)}.results`,
    // A run that continues has other results with the next request.
    source: finishedAt === null ? null : source,
    read: () => open.results(),
  };
  return tableExport(table, options);
}
