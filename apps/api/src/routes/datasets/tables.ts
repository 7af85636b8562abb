import { ITEM_COLUMNS, itemsTable, OTHER_ITEM_COLUMNS } from '@svc/flows';
import type { Route } from '@svc/runtime';
import { columnsOf, tableResponse, tableRoute } from '../table.ts';
import { VERSION } from './resolve-datasets.ts';
import { DATASET_READ, type DatasetDeps } from './routes.ts';

const COLUMNS = { columns: ITEM_COLUMNS, others: OTHER_ITEM_COLUMNS };

/** `GET /datasets/{id}/items.csv` and `items.parquet`: the items of a dataset as tables. */
export function itemTableRoutes({ store }: Pick<DatasetDeps, 'store'>): readonly Route[] {
  return (['csv', 'parquet'] as const).map((format) => {
    const shared = tableRoute(format, COLUMNS);
    return {
      ...DATASET_READ,
      ...shared,
      path: `/datasets/{id}/items.${format}`,
      operationId: format === 'csv' ? 'downloadItemsCsv' : 'downloadItemsParquet',
      summary: 'Every item as a row; a value that is not a scalar is JSON text',
      query: {
        ...shared.query,
        ...VERSION,
        section: { type: 'string', description: 'items of this section only' },
      },
      errors: ['dataset_not_found', 'section_not_found', 'item_too_large', 'unavailable'],
      handle: async ({ params, query, signal }) => {
        const columns = columnsOf(query['columns'], COLUMNS);
        await using opening = new AsyncDisposableStack();
        const version = query['version'] as number | undefined;
        const open = opening.use(await store.reads.datasets.open(params['id'] ?? '', { version, signal }));
        const section = query['section'] as string | undefined;
        const isForExcel = query['excel'] === true;
        const table = itemsTable(open, { format, columns, section, isForExcel });
        return tableResponse(table, opening.move());
      },
    };
  });
}
