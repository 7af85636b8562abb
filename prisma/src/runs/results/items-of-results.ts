import type { StoreContext } from '../../context.ts';
import { type HeldPage, holdPage } from '../../database/page.ts';
import { boundedText } from '../../database/values.ts';
import type { ItemPosition } from '../../items/item-ranges.ts';
import { type ListedItem, toListedItem } from '../../items/list-items.ts';
import { planItems, readPlannedItems } from '../../items/read-item-texts.ts';
import type { ReadQuery } from '../../postgres/read-query.ts';
import { keyOf, readCandidatesAt, type VersionOfRun } from '../read-items-at.ts';

/** The first of some results with their items. */
interface ResultsWithItems<T> extends HeldPage {
  readonly results: readonly (T & { readonly item: ResultItem | null })[];
}

interface OfItem {
  /** JSON text. */
  readonly itemId: string | null;
}

/** An item of a result, with its own id. */
export type ResultItem = ListedItem & OfItem;

/** Longer ids are left out. */
const MAX_ID_BYTES = 65_536;

const COLUMNS = { itemId: boundedText('i.item_id', MAX_ID_BYTES) } as const;

/** Reads the items of results: of as many results as fit into a page, and one at least. */
export async function itemsOfResults<T extends ItemPosition>(
  query: ReadQuery,
  { largePages, ...limits }: Pick<StoreContext, 'largePages' | 'maxItemBytes' | 'maxWholeBytes'>,
  version: VersionOfRun,
  results: readonly T[],
  signal: AbortSignal | undefined,
): Promise<ResultsWithItems<T>> {
  const candidates = await readCandidatesAt<OfItem>(query, version, results, COLUMNS);
  const plan = planItems(candidates, limits, 'link');
  return await holdPage(largePages, plan.unreadBytes, signal, async () => {
    const read = await readPlannedItems(query, plan);
    const items = new Map(
      read.map((item) => [keyOf(item), { ...toListedItem(item), itemId: item.itemId }] as const),
    );
    const left = new Set(candidates.slice(plan.items.length).map(keyOf));
    const end = results.findIndex((result) => left.has(keyOf(result)));
    const shown = end === -1 ? results : results.slice(0, end);
    return { results: shown.map((result) => ({ ...result, item: items.get(keyOf(result)) ?? null })) };
  });
}
