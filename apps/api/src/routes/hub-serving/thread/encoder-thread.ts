/** The code of each thread of `item-encoder.ts`. */
import { parentPort } from 'node:worker_threads';
import { serveTasks } from '@svc/service/concurrency';
import { type Profile, profileItems, unpackItems } from '@svc/service/store/rows';
import { type EncodedRowGroup, encodeRowGroup } from '@svc/tabular/write';
import { type HubColumn, HubRow, parquetColumns } from '../files/hub-columns.ts';

export interface EncodeTask {
  /** For `unpackItems`: the items of all groups, one group after the other. */
  readonly packed: Uint8Array<ArrayBuffer>;
  readonly counts: readonly number[];
  /** Contents of the images that the tables embed, by hash. */
  readonly contents: ReadonlyMap<string, Uint8Array>;
  /** Set to encode each group as a row group of a Parquet file; null for profiles. */
  readonly table: { readonly sections: readonly string[]; readonly columns: readonly HubColumn[] } | null;
}

export type EncodedItems =
  | { readonly rowGroups: readonly EncodedRowGroup[]; readonly profiles: null }
  | { readonly rowGroups: null; readonly profiles: readonly Profile[] };

async function encodeItems({ packed, counts, contents, table }: EncodeTask): Promise<EncodedItems> {
  if (table === null) return { rowGroups: null, profiles: profileItems(packed, counts) };
  const items = unpackItems(packed);
  const columns = parquetColumns(table.columns, contents);
  function* rows(count: number, section: string): Generator<HubRow> {
    for (let taken = 0; taken < count; taken += 1) {
      const { value } = items.next();
      if (value === undefined) throw new Error('A group has too few items.');
      yield new HubRow(value, section);
    }
  }
  const rowGroups: EncodedRowGroup[] = [];
  for (const [index, count] of counts.entries()) {
    rowGroups.push(await encodeRowGroup(rows(count, table.sections[index] ?? ''), columns));
  }
  return { rowGroups, profiles: null };
}

serveTasks(parentPort, async (task: EncodeTask) => {
  try {
    const outcome = await encodeItems(task);
    return {
      message: { kind: 'outcome', outcome },
      transfer: outcome.rowGroups?.map(({ bytes }) => bytes.buffer) ?? [],
    };
  } catch (error) {
    return { message: { kind: 'fault', error } };
  }
});
