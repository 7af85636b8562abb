import { parseJson } from '@svc/jsonl-v23/json';
import type pg from 'pg';
import { type DatasetChange, sectionNameOf } from './change-dataset.ts';
import { lockNewest } from './read-version.ts';

/**
 * What the ids of rows without an id are made of that are appended to a section: its name, and a number from which on no
 * such id is taken, as far as the length and the last item of the section tell. The dataset stays as it is until the
 * transaction ends.
 *
 * @param named the section that the source names; null for none
 * @throws StoreError `dataset_not_found`, `version_changed`
 */
export async function nextMadeId(
  client: pg.ClientBase,
  change: Pick<DatasetChange, 'datasetId' | 'ifMatch' | 'section'>,
  named: string | null,
): Promise<{ readonly split: string; readonly idOffset: number }> {
  const { sections } = await lockNewest(client, change.datasetId, change.ifMatch);
  const split = sectionNameOf(sections, change, named);
  const section = sections.find(({ name }) => name === split);
  const last = section?.ranges.at(-1);
  if (section === undefined || last === undefined) return { split, idOffset: 0 };
  const { rows } = await client.query<{ id: string | null }>(
    'SELECT item_id AS id FROM items WHERE part_id = $1 AND ordinal = $2',
    [last.partId, last.first + last.count - 1],
  );
  return { split, idOffset: Math.max(section.itemCount, numberOf(rows[0]?.id, split) + 1) };
}

/** The number of an id that was made for a section; -1 for any other id. @param id canonical JSON text */
function numberOf(id: string | null | undefined, split: string): number {
  const text = id == null ? null : parseJson(id);
  if (typeof text !== 'string' || !text.startsWith(`${split}-`)) return -1;
  const number = text.slice(split.length + 1);
  return /^\d{1,9}$/.test(number) ? Number(number) : -1;
}
