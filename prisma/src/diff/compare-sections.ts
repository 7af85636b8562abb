import { Parameters } from '../database/page.ts';
import { withHashJoins } from '../database/transaction-settings.ts';
import type { DiffCounts } from './diff-counts.ts';
import { differencesIn, SPANS, type Spans } from './differences-sql.ts';
import { findMoved, type MovedItems } from './find-moved.ts';

export type ItemChange = keyof DiffCounts;

/** In the order of entries. */
export const CHANGES: readonly ItemChange[] = ['added', 'removed', 'changed', 'moved'];

/** Order indexes of a section and of an item in it. */
export interface Place {
  readonly section: number;
  readonly item: number;
}

/** An item that differs. */
export interface Difference {
  readonly change: ItemChange;
  /** On the first side; null for an added item. */
  readonly from: Place | null;
  /** On the second side; null for a removed item. */
  readonly to: Place | null;
}

/** Which differences to list. */
interface DifferencesPage {
  /** Those of one kind; all without it. */
  readonly change?: ItemChange | undefined;
  /** After the difference with this position (see {@link positionOf}). */
  readonly after: readonly [kind: number, section: number, item: number];
  readonly limit: number;
}

export interface Comparison {
  readonly counts: DiffCounts;
  /** In the order of their positions. */
  readonly differences: readonly Difference[];
}

const START = [-1, -1, -1] as const;

/**
 * Compares two lists of sections, given by the ids of rows of `sections`, in a transaction. Memory holds integers for each run of
 * items in another order, and no items.
 *
 * @param query runs statements of the transaction
 */
export async function compareSections(
  query: (sql: string, values: readonly unknown[]) => Promise<readonly object[]>,
  from: readonly string[],
  to: readonly string[],
  page: DifferencesPage = { after: START, limit: 0 },
): Promise<Comparison> {
  const { change, after, limit } = page;
  const kind = change === undefined ? -1 : CHANGES.indexOf(change);
  const rows = await withHashJoins(
    (sql) => query(sql, []),
    async () => {
      const [spans] = (await query(SPANS, [from, to])) as readonly [Spans | { readonly pair: null }];
      if (spans.pair === null) return [];
      const parameters = new Parameters([kind, ...after, limit]);
      const differences = differencesIn(spans, parameters);
      return (await query(differences, parameters.values)) as readonly DifferenceRow[];
    },
  );
  const counts = { added: 0, removed: 0, changed: 0, moved: 0 };
  const differences: Difference[] = [];
  for (const row of rows) {
    if (row.what === 'counts') for (const name of CHANGES) counts[name] += Number(row[name]);
    else if (row.what === 'entry') differences.push(toDifference(row));
  }
  const orders = Map.groupBy(
    rows.filter(({ bytes }) => bytes !== null),
    ({ b_section }) => b_section,
  );
  for (const [section, chunks] of [...orders].sort(([a], [b]) => a - b)) {
    const moved = await findMoved({
      differing: joined(chunks, 'differing'),
      blocks: joined(chunks, 'blocks'),
    });
    counts.moved += moved.count;
    if (kind !== -1 && change !== 'moved') continue;
    const places = { from: chunks[0]?.a_section ?? 0, to: section };
    let listed = 0;
    for (const difference of movedAfter(moved, places, after)) {
      if (listed === limit) break;
      differences.push(difference);
      listed += 1;
    }
  }
  differences.sort((a, b) => comparePositions(positionOf(a), positionOf(b)));
  return { counts, differences: differences.slice(0, limit) };
}

/** A row of {@link differencesIn}. */
interface DifferenceRow {
  readonly what: 'counts' | 'differing' | 'blocks' | 'entry';
  readonly added: string;
  readonly removed: string;
  readonly changed: string;
  readonly moved: string;
  /** Kind of an entry; else the number of the chunk. */
  readonly kind: number;
  readonly a_section: number;
  readonly a_item: number | null;
  readonly b_section: number;
  readonly b_item: number | null;
  readonly bytes: Buffer | null;
}

function toDifference({ kind, a_section, a_item, b_section, b_item }: DifferenceRow): Difference {
  return {
    change: CHANGES[kind] as ItemChange,
    from: a_item === null ? null : { section: a_section, item: a_item },
    to: b_item === null ? null : { section: b_section, item: b_item },
  };
}

function joined(rows: readonly DifferenceRow[], what: DifferenceRow['what']): Buffer {
  const chunks = rows.filter((row) => row.what === what).sort((a, b) => a.kind - b.kind);
  return Buffer.concat(chunks.flatMap(({ bytes }) => bytes ?? []));
}

/** The moved items of a section after a position, in order. */
function* movedAfter(
  { runs }: MovedItems,
  { from, to }: { readonly from: number; readonly to: number },
  after: DifferencesPage['after'],
): Generator<Difference> {
  for (let at = 0; at < runs.length; at += 3) {
    const [first, second, length] = runs.subarray(at, at + 3) as unknown as [number, number, number];
    const last = positionOf({
      ...MOVED,
      from: { section: from, item: first },
      to: { section: to, item: second + length - 1 },
    });
    if (comparePositions(last, after) <= 0) continue;
    for (let index = 0; index < length; index += 1) {
      const difference: Difference = {
        ...MOVED,
        from: { section: from, item: first + index },
        to: { section: to, item: second + index },
      };
      if (comparePositions(positionOf(difference), after) > 0) yield difference;
    }
  }
}

const MOVED = { change: 'moved' } as const;

/** Where a difference is in the order of all: by its kind, then by its place on the second side, or else on the first. */
export function positionOf({ change, from, to }: Difference): [kind: number, section: number, item: number] {
  const { section, item } = (to ?? from) as Place;
  return [CHANGES.indexOf(change), section, item];
}

function comparePositions(a: readonly number[], b: readonly number[]): number {
  for (const [index, value] of a.entries()) {
    const other = b[index] as number;
    if (value !== other) return value - other;
  }
  return 0;
}
