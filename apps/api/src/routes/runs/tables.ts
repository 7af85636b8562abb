import { RESULT_COLUMNS, resultsTable } from '@svc/flows';
import type { Route } from '@svc/runtime';
import type { Store } from '@svc/store';
import { tableRoute } from '../table.ts';
import { idOf, RUN_READ } from './path-params.ts';

const OPERATIONS = {
  jsonl: 'downloadResultsJsonl',
  csv: 'downloadResultsCsv',
  parquet: 'downloadResultsParquet',
} as const;

/** `GET /runs/{id}/results.jsonl`, `results.csv` and `results.parquet`: the results of a run as tables. */
export function resultTableRoutes({ store }: { readonly store: Pick<Store, 'runs'> }): readonly Route[] {
  return (['jsonl', 'csv', 'parquet'] as const).map((format) => ({
    ...RUN_READ,
    ...tableRoute(format, {
      columns: RESULT_COLUMNS,
      open: ({ params, signal }) => store.runs.open(idOf(params), { signal }),
      table: (open, choice) => resultsTable(open, { format, ...choice }),
    }),
    path: `/runs/{id}/results.${format}`,
    operationId: OPERATIONS[format],
    summary: 'The results so far, in item order, one row each',
    errors: ['run_not_found', 'item_too_large', 'unavailable'],
  }));
}
