import { ITEM_COLUMNS, itemsTable, OTHER_ITEM_COLUMNS } from '@svc/flows';
import type { Route } from '@svc/runtime';
import { tableRoute } from '../table.ts';
import { VERSION } from './resolve-datasets.ts';
import { DATASET_READ, type DatasetDeps } from './routes.ts';

/** `GET /datasets/{id}/items.csv` and `items.parquet`: the items of a dataset as tables. */
export function itemTableRoutes({ store: { datasets } }: Pick<DatasetDeps, 'store'>): readonly Route[] {
  return (['csv', 'parquet'] as const).map((format) => {
    const table = tableRoute(format, {
      columns: ITEM_COLUMNS,
      others: OTHER_ITEM_COLUMNS,
      open: async ({ params, query, signal }) => {
        const version = query['version'] as number | undefined;
        return await datasets.open(params['id'] ?? '', { version, signal });
      },
      table: (open, choice, { query }) =>
        itemsTable(open, { format, ...choice, section: query['section'] as string | undefined }),
    });
    return {
      ...DATASET_READ,
      ...table,
      path: `/datasets/{id}/items.${format}`,
      operationId: format === 'csv' ? 'downloadItemsCsv' : 'downloadItemsParquet',
      summary: 'Every item as a row; a value that is not a scalar is JSON text',
      query: {
        ...table.query,
        ...VERSION,
        section: { type: 'string', description: 'items of this section only' },
      },
      errors: ['dataset_not_found', 'section_not_found', 'item_too_large', 'unavailable'],
    };
  });
}
