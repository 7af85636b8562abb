import { Parameters } from '../database/page.ts';
import { withHashJoins } from '../postgres/read-query.ts';
import { differencesIn, SPANS, type Spans } from './differences-sql.ts';

export interface DiffCounts {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

export const NO_DIFFERENCE: DiffCounts = { added: 0, changed: 0, removed: 0 };

export type ItemChange = keyof DiffCounts;

const CHANGES: readonly ItemChange[] = ['added', 'removed', 'changed'];

export interface Place {
  readonly section: number;
  readonly item: number;
}

export interface Difference {
  readonly change: ItemChange;
  readonly from: Place | null;
  readonly to: Place | null;
}

/** Which differences to list: those of one kind, or of all, after a position (see {@link positionOf}). */
interface DifferencesPage {
  readonly change?: ItemChange | undefined;
  readonly after: readonly [kind: number, section: number, item: number];
  readonly limit: number;
}

export interface Comparison {
  readonly counts: DiffCounts;
  /** Pairs of sections of one name that differ, by their order indexes, in the order of the second side; at most 1,000. */
  readonly sections: readonly { readonly to: number; readonly isOrderChanged: boolean }[];
  readonly differences: readonly Difference[];
}

export async function compareSections(
  query: (sql: string, values: readonly unknown[]) => Promise<readonly object[]>,
  from: readonly string[],
  to: readonly string[],
  { change, after, limit }: DifferencesPage = { after: [-1, -1, -1], limit: 0 },
): Promise<Comparison> {
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
  const counts = { added: 0, removed: 0, changed: 0 };
  const sections: { to: number; isOrderChanged: boolean }[] = [];
  const differences: Difference[] = [];
  for (const row of rows) {
    if (row.what === 'counts') for (const name of CHANGES) counts[name] += Number(row[name]);
    else if (row.what === 'section') sections.push({ to: row.b_section, isOrderChanged: row.kind === 1 });
    else {
      const { kind, a_section, a_item, b_section, b_item } = row;
      const from = a_item === null ? null : { section: a_section, item: a_item };
      const to = b_item === null ? null : { section: b_section, item: b_item };
      differences.push({ change: CHANGES[kind] as ItemChange, from, to });
    }
  }
  return { counts, sections, differences };
}

interface DifferenceRow {
  readonly what: 'counts' | 'section' | 'entry';
  readonly added: string;
  readonly removed: string;
  readonly changed: string;
  /** Kind of an entry; 1 of a section whose order has changed. */
  readonly kind: number;
  readonly a_section: number;
  readonly a_item: number | null;
  readonly b_section: number;
  readonly b_item: number | null;
}

/** Where a difference is in the order of all: by its kind, then by its place on the second side, or else on the first. */
export function positionOf({ change, from, to }: Difference): [kind: number, section: number, item: number] {
  const { section, item } = (to ?? from) as Place;
  return [CHANGES.indexOf(change), section, item];
}
