import type { DatasetStore } from '../../src/store/datasets/dataset-store.ts';
import type { StoredItem } from '../../src/store/items/list-items.ts';

/** All items of a dataset, or those of its sections of one name, in the batches that the server sends. */
export async function* streamItems(
  datasets: Pick<DatasetStore, 'open'>,
  id: string,
  section?: string,
): AsyncGenerator<StoredItem[], void, undefined> {
  await using open = await datasets.open(id);
  yield* open.items(open.sections.filter(({ name }) => section === undefined || name === section));
}
