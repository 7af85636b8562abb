import type pg from 'pg';
import { Parameters } from '../database/page.ts';
import { itemsInRanges, readRanges } from '../items/item-ranges.ts';
import { queryOf } from '../postgres/read-query.ts';

/** Gives the results of a run the ids of its items: those of version `version` of dataset `datasetId`. */
export async function takeItemIds(
  client: pg.ClientBase,
  runId: string,
  { datasetId, version }: { readonly datasetId: string; readonly version: number },
): Promise<void> {
  const ranges = await readRanges(queryOf(client), { datasetId, version });
  const parameters = new Parameters([runId]);
  await client.query(
    `WITH item AS MATERIALIZED (
       SELECT i.section, i.order_index, i.item_id FROM ${itemsInRanges(ranges, parameters)} i
     )
     UPDATE run_results result SET item_id = item.item_id FROM item
     WHERE result.run_id = $1 AND result.section_order_index = item.section AND result.order_index = item.order_index
       AND result.item_id IS DISTINCT FROM item.item_id`,
    parameters.values,
  );
}
