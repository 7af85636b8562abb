import type { ReadQuery } from '@svc/postgres';
import { readLinkedFiles } from '../../assets/linked-files-column.ts';
import type { StoreContext } from '../../context.ts';
import { boundedText } from '../../database/item-size.ts';
import { EAGER_BYTES } from '../../database/page.ts';
import type { ListedItem } from '../../items/list-items.ts';
import {
  type ItemCandidate,
  planItems,
  readPlannedItems,
  type SizedItem,
} from '../../items/read-item-texts.ts';
import { type ItemPosition, keyOf, readCandidatesAt, type VersionOfRun } from '../read-items-at.ts';

/** The first of some results with their items; memory is accounted for until it is released. */
export interface ResultsWithItems<T> {
  readonly results: readonly (T & { readonly item: ResultItem | null })[];
  readonly isLarge: boolean;
  release(): void;
}

interface OfItem {
  /** JSON text. */
  readonly itemId: string | null;
}

type CandidateRow = ItemCandidate & SizedItem & ItemPosition & OfItem;

/** An item of a result, with its own id as JSON text. */
export type ResultItem = ListedItem & { readonly itemId: string | null };

/** Longer ids are left out. */
const MAX_ID_BYTES = 65_536;

const COLUMNS = { itemId: boundedText('i.item_id', MAX_ID_BYTES) } as const;

function toListedItem({ linkedFiles, ...item }: CandidateRow): ResultItem {
  const { section, sectionOrderIndex, orderIndex, itemHash, itemId, payload, answer, checker, assets } = item;
  return {
    ...{ section, sectionOrderIndex, orderIndex, itemHash, itemId, payload, answer, checker, assets },
    linkedFiles: readLinkedFiles(linkedFiles),
    isTruncated: false,
  };
}

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
  const isLarge = plan.unreadBytes > EAGER_BYTES;
  const permits = isLarge ? await largePages.acquire(signal, { permits: plan.unreadBytes }) : undefined;
  const release = (): void => permits?.[Symbol.dispose]();
  try {
    const items = new Map(
      (await readPlannedItems(query, plan)).map((item) => [keyOf(item), toListedItem(item)]),
    );
    const left = new Set(candidates.slice(plan.items.length).map(keyOf));
    const end = results.findIndex((result) => left.has(keyOf(result)));
    const shown = end === -1 ? results : results.slice(0, end);
    return {
      results: shown.map((result) => ({ ...result, item: items.get(keyOf(result)) ?? null })),
      isLarge,
      release,
    };
  } catch (error) {
    release();
    throw error;
  }
}
