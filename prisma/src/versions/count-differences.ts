import type pg from 'pg';
import type { DiffCounts } from '../diff/compare-sections.ts';
import { compareSections } from '../diff/compare-sections.ts';
import { queryOf } from '../postgres/read-query.ts';
import type { VersionState } from './read-version.ts';

/** The counts of the diff of two versions, in a transaction. Sections that both have are not read. */
export async function countDifferences(
  client: pg.ClientBase,
  before: Pick<VersionState, 'sections'>,
  after: Pick<VersionState, 'sections'>,
): Promise<DiffCounts> {
  const { counts } = await compareSections(
    queryOf(client),
    before.sections.map(({ id }) => id),
    after.sections.map(({ id }) => id),
  );
  return counts;
}
