import type { StoreContext } from '../context.ts';
import { nothingToRead } from '../database/dataset-row.ts';
import { cursorAfter, decodeCursor, type PageRequest, versionOfCursor } from '../database/page.ts';
import { boundedName } from '../database/values.ts';
import { type Comparison, compareSections, type ItemChange, positionOf } from '../diff/compare-sections.ts';
import { type ComparedSections, readDifferences } from '../diff/read-differences.ts';
import { versionNumber } from '../items/item-ranges.ts';
import { type ReadQuery, readFrom, SNAPSHOT } from '../postgres/read-query.ts';

/** A dataset, and the number of one of its versions; by default the newest. */
export interface ComparedDataset {
  readonly id: string;
  readonly version?: number | null | undefined;
}

export interface DiffRequest extends PageRequest {
  readonly only?: ItemChange | undefined;
}

/**
 * What distinguishes a second dataset from a first: items only in the second (`added`), only in the first (`removed`), in
 * both with other content (`changed`). See docs/versions.md.
 *
 * @throws StoreError `dataset_not_found`, `version_not_found`, `invalid_cursor`
 */
export async function diffDatasets(
  { pool, searches, maxItemBytes }: StoreContext,
  from: ComparedDataset,
  to: ComparedDataset,
  request: DiffRequest,
) {
  const { limit, cursor, only, signal } = request;
  const [fromVersion, toVersion, ...after] =
    cursor === undefined
      ? ([null, null, -1, -1, -1] as const)
      : decodeCursor(`diff ${from.id} ${to.id}`, ['index', 'index', 'index', 'index', 'index'], cursor);
  const versions = [
    versionOfCursor(cursor, fromVersion, from.version),
    versionOfCursor(cursor, toVersion, to.version),
  ] as const;

  using _permit = await searches.acquire(signal);
  return await readFrom(
    pool,
    async (query) => {
      const first = await readSections(query, from.id, versions[0]);
      const second = await readSections(query, to.id, versions[1]);
      const sections: ComparedSections = { from: first.sectionIds, to: second.sectionIds };
      const page = { change: only, after, limit: limit + 1 };
      const found = await compareSections(query, sections.from, sections.to, page);
      const { counts } = found;
      const wanted = found.differences.slice(0, limit);
      const data = await readDifferences(query, sections, wanted, maxItemBytes);
      const shown = wanted.slice(0, data.length);
      return {
        /** Counts of the whole comparison, whatever `only` selects. */
        counts: { ...counts, unchanged: first.itemCount - counts.removed - counts.changed },
        /** Sections that both have and that differ, in the order of the second dataset; at most 1,000. */
        sections: await nameSections(query, second.sectionIds, found.sections),
        /** Added, then removed, then changed items, each in the order of their place in the second dataset (else the first). */
        data,
        nextCursor: cursorAfter(
          `diff ${from.id} ${to.id}`,
          shown,
          data.length < found.differences.length,
          (last) => [...[first.version, second.version], ...positionOf(last)],
        ),
        totalItems: only === undefined ? counts.added + counts.removed + counts.changed : counts[only],
      };
    },
    signal,
    SNAPSHOT,
  );
}

async function nameSections(query: ReadQuery, ids: readonly string[], sections: Comparison['sections']) {
  const rows = await query<{ readonly name: string }>(
    `SELECT ${boundedName('s.name')} AS name FROM unnest($1::uuid[]) WITH ORDINALITY AS wanted (id, n)
       JOIN sections s ON s.id = wanted.id ORDER BY wanted.n`,
    [sections.map(({ to }) => ids[to])],
  );
  return rows.map(({ name }, index) => ({
    name,
    isOrderChanged: sections[index]?.isOrderChanged ?? false,
  }));
}

interface ComparedVersion {
  readonly version: number;
  readonly itemCount: number;
  readonly sectionIds: readonly string[];
}

/** @throws StoreError `dataset_not_found`, `version_not_found` */
async function readSections(query: ReadQuery, id: string, version: number | null): Promise<ComparedVersion> {
  const [found] = await query<ComparedVersion>(
    `SELECT version, item_count AS "itemCount", section_ids AS "sectionIds" FROM versions
     WHERE dataset_id = $1 AND version = ${versionNumber('$1', '$2')}`,
    [id, version],
  );
  if (found === undefined) throw await nothingToRead(query, id, version);
  return found;
}
