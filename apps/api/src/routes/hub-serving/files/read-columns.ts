import { mapOrdered } from '@svc/concurrency';
import { splitNames } from '@svc/jsonl-v23/internal';
import { cutRange, type SectionRange, type Store, type StoredSection } from '@svc/store';
import {
  addProfile,
  emptyProfile,
  PROFILE_ITEMS,
  type Profile,
  ProfileBlocks,
  parseProfile,
} from '@svc/store/rows';
import type { ItemEncoder } from '../thread/item-encoder.ts';
import { type EvalTask, planTasks } from './eval-tasks.ts';
import { type HubColumn, planColumns } from './hub-columns.ts';
import { groupItems } from './plan-files.ts';

/** The next group is read while one is encoded. */
export const GROUPS_AT_ONCE = 2;

/** What depends on all items of a version. */
export interface TableFacts {
  readonly columns: readonly HubColumn[];
  readonly tasks: readonly EvalTask[];
}

/**
 * The columns of the tables of sections, and their tasks. Types depend on all items: reads those that no profile is kept of, and keeps it.
 *
 * @throws StoreError of reading
 */
export async function readColumns(
  { hubFiles, encoder }: { readonly hubFiles: Store['hubFiles']; readonly encoder: ItemEncoder },
  sections: readonly StoredSection[],
  signal: AbortSignal,
): Promise<TableFacts> {
  const ranges = await hubFiles.ranges(
    sections.map(({ id }) => id),
    signal,
  );
  const parts = [...new Set(ranges.map(({ partId }) => partId))];
  const kept = new Map(
    (await hubFiles.findProfiles(parts, signal)).map((each) => [nameOf(each), each.profile]),
  );
  const all = emptyProfile();
  const kinds = sections.map(() => 0);
  const addTo = (section: number, profile: Profile): void => {
    addProfile(all, profile);
    kinds[section] = (kinds[section] ?? 0) | profile.kinds;
  };
  const unknown: SectionRange[] = [];
  for (const block of ranges.flatMap(cutBlocks)) {
    const known = kept.get(nameOf(block));
    const found = known === undefined ? undefined : parseProfile(known);
    if (found?.items !== block.count) unknown.push(block);
    else addTo(block.section, found.profile);
  }
  const blocks = new ProfileBlocks();
  const groups = groupItems(hubFiles, unknown, signal);
  const read = mapOrdered(groups, GROUPS_AT_ONCE, async (group) => ({
    group,
    profiles: await encoder.profile(group.ranges, signal),
  }));
  for await (const { group, profiles } of read) {
    for (const [index, { partId, first, count: items, section }] of group.ranges.entries()) {
      const profile = profiles[index] ?? emptyProfile();
      addTo(section, profile);
      blocks.add({ partId, first, items, profile });
    }
    await hubFiles.addProfiles(blocks.take());
  }
  const splits = splitNames(sections.map(({ name }) => name));
  const known = sections.map((section, index) => {
    return { ...section, split: splits[index] ?? '', kinds: kinds[index] ?? 0 };
  });
  const tasks = await planTasks(
    hubFiles,
    known.filter(({ itemCount }) => itemCount > 0),
    signal,
  );
  return { columns: planColumns(all), tasks };
}

const nameOf = ({ partId, first }: Pick<SectionRange, 'partId' | 'first'>): string => `${partId} ${first}`;

/** Cuts a range where blocks of its part end. */
function cutBlocks(range: SectionRange): readonly SectionRange[] {
  const blocks: SectionRange[] = [];
  for (let from = 0; from < range.count; ) {
    const to = Math.min(range.count, from + PROFILE_ITEMS - ((range.first + from) % PROFILE_ITEMS));
    blocks.push(...cutRange(range, from, to));
    from = to;
  }
  return blocks;
}
