import type { StoredItem } from '../items/list-items.ts';
import { openDataset, type ReadContext } from './open-dataset.ts';

/** See `DatasetStore.streamItems`: closes the dataset when its items end or the reader stops. */
export async function streamItems(
  context: ReadContext,
  id: string,
  options: { readonly section?: string; readonly version?: number; readonly signal?: AbortSignal } = {},
): Promise<AsyncIterable<StoredItem[]>> {
  const { section, ...openOptions } = options;
  const open = await openDataset(context, id, openOptions);
  const wanted = section === undefined ? open.sections : open.sections.filter(({ name }) => name === section);
  const items = open.items(wanted);
  const close = async (): Promise<IteratorResult<StoredItem[], void>> => {
    await items.return();
    await open[Symbol.asyncDispose]();
    return { done: true, value: undefined };
  };
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        try {
          const result = await items.next();
          return result.done === true ? await close() : result;
        } catch (error) {
          await close();
          throw error;
        }
      },
      return: close,
    }),
  };
}
