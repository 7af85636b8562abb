import type { ReadQuery } from '@svc/postgres';
import { readLinkedFiles } from '../../assets/linked-files-column.ts';
import type { StoreContext } from '../../context.ts';
import { boundedName, boundedText } from '../../database/item-size.ts';
import type { ListedItem } from '../../items/list-items.ts';
import {
  type ItemCandidate,
  itemCandidates,
  planItems,
  readPlannedItems,
} from '../../items/read-item-texts.ts';
import { isItemAt, ofRun } from '../../items/version-sql.ts';
import type { ItemPosition } from '../read-stored-outputs.ts';

/** The first of some results with their items; memory is accounted for until it is released. */
export interface ResultsWithItems<T> {
  readonly results: readonly (T & { readonly item: ResultItem | null })[];
  readonly isLarge: boolean;
  release(): void;
}

interface CandidateRow extends ItemCandidate {
  readonly sectionOrderIndex: number;
  readonly itemHash: Uint8Array;
  readonly itemId: string | null;
}

/** An item of a result, with its own id as JSON text. */
export type ResultItem = ListedItem & { readonly itemId: string | null };

/** Longer ids are left out. */
const MAX_ID_BYTES = 65_536;

/** $1 the run, $2 and $3 the positions of its items. */
const ITEMS = itemCandidates(
  `SELECT i.part_id AS "partId", i.ordinal, ${boundedName('s.name')} AS section, s.order_index AS "sectionOrderIndex",
     wanted.item AS "orderIndex", i.item_hash AS "itemHash",
     ${boundedText('i.item_id', MAX_ID_BYTES)} AS "itemId", i.byte_length, i.payload, i.answer, i.checker, i.assets,
     i.linked_files, i.linked_bytes
   FROM (SELECT DISTINCT * FROM unnest($2::int[], $3::int[])) AS wanted (section, item)
     JOIN runs run ON run.id = $1 JOIN version_sections s ON ${ofRun('run')} AND s.order_index = wanted.section
     JOIN items i ON ${isItemAt('wanted.item')}`,
  '"itemHash", "itemId"',
);

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
  runId: string,
  results: readonly T[],
  signal: AbortSignal | undefined,
): Promise<ResultsWithItems<T>> {
  const candidates = await query<CandidateRow>(`${ITEMS} ORDER BY "sectionOrderIndex", "orderIndex"`, [
    runId,
    results.map(({ sectionOrderIndex }) => sectionOrderIndex),
    results.map(({ orderIndex }) => orderIndex),
  ]);
  const plan = planItems(candidates, limits, 'link');
  const permits =
    plan.unreadBytes > 0 ? await largePages.acquire(signal, { permits: plan.unreadBytes }) : undefined;
  const release = (): void => permits?.[Symbol.dispose]();
  try {
    const key = (at: { readonly sectionOrderIndex: number; readonly orderIndex: number }): string =>
      `${at.sectionOrderIndex} ${at.orderIndex}`;
    const items = new Map(
      (await readPlannedItems(query, plan)).map((item) => [key(item), toListedItem(item)]),
    );
    const left = new Set(candidates.slice(plan.items.length).map(key));
    const end = results.findIndex((result) => left.has(key(result)));
    const shown = end === -1 ? results : results.slice(0, end);
    return {
      results: shown.map((result) => ({ ...result, item: items.get(key(result)) ?? null })),
      isLarge: plan.unreadBytes > 0,
      release,
    };
  } catch (error) {
    release();
    throw error;
  }
}
