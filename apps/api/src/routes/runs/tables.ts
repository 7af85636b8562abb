import { RESULT_COLUMNS, resultsTable } from '@svc/flows';
import type { Route } from '@svc/runtime';
import type { Store } from '@svc/store';
import { columnsOf, tableResponse, tableRoute } from '../table.ts';
import { idOf } from './path-params.ts';

const COLUMNS = { columns: RESULT_COLUMNS };
const OPERATIONS = {
  jsonl: 'downloadResultsJsonl',
  csv: 'downloadResultsCsv',
  parquet: 'downloadResultsParquet',
} as const;

/** `GET /runs/{id}/results.jsonl`, `results.csv` and `results.parquet`: the results of a run as tables. */
export function resultTableRoutes({ store }: { readonly store: Pick<Store, 'reads'> }): readonly Route[] {
  return (['jsonl', 'csv', 'parquet'] as const).map((format) => ({
    ...tableRoute(format, COLUMNS),
    method: 'get',
    path: `/runs/{id}/results.${format}`,
    operationId: OPERATIONS[format],
    summary: 'The results so far, in item order, one row each',
    tag: 'runs',
    access: 'viewer',
    errors: ['run_not_found', 'item_too_large', 'unavailable'],
    handle: async ({ params, query, signal }) => {
      const columns = columnsOf(query['columns'], COLUMNS);
      await using opening = new AsyncDisposableStack();
      const open = opening.use(await store.reads.runs.open(idOf(params), { signal }));
      const table = resultsTable(open, { format, columns, isForExcel: query['excel'] === true });
      return tableResponse(table, opening.move());
    },
  }));
}
