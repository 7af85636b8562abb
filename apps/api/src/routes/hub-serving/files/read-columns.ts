import { mapOrdered } from '@svc/concurrency';
import { cutRange, type SectionRange, type Store, type StoredSection } from '@svc/store';
import type { ItemEncoder } from '../thread/item-encoder.ts';
import { type HubColumn, planColumns } from './hub-columns.ts';
import { groupItems } from './plan-files.ts';
import { addProfile, emptyProfile, type Profile } from './profile.ts';

/** Items of a part whose profile is kept: a change of a dataset reads those of few blocks again. */
const BLOCK_ITEMS = 8_192;
/** The next group is read while one is encoded. */
export const GROUPS_AT_ONCE = 2;

/**
 * The columns of the tables of sections. Types depend on all items: reads those that no profile is kept of, and keeps it.
 *
 * @throws StoreError of reading
 */
export async function readColumns(
  { hubFiles, encoder }: { readonly hubFiles: Store['hubFiles']; readonly encoder: ItemEncoder },
  sections: readonly StoredSection[],
  format: string,
  signal: AbortSignal,
): Promise<readonly HubColumn[]> {
  const ranges = await hubFiles.ranges(
    sections.map(({ id }) => id),
    signal,
  );
  const parts = [...new Set(ranges.map(({ partId }) => partId))];
  const kept = new Map(
    (await hubFiles.findProfiles(parts, format, signal)).map((each) => [nameOf(each), each.profile]),
  );
  const all = emptyProfile();
  const unknown: SectionRange[] = [];
  for (const block of ranges.flatMap(cutBlocks)) {
    const profile = block.count === BLOCK_ITEMS ? kept.get(nameOf(block)) : undefined;
    if (profile === undefined) unknown.push(block);
    else addProfile(all, parseProfile(profile));
  }
  const blocks = new Map<string, { items: number; readonly profile: Profile }>();
  const groups = groupItems(hubFiles, unknown, signal);
  const read = mapOrdered(groups, GROUPS_AT_ONCE, async (group) => ({
    group,
    profiles: await encoder.profile(group.ranges, signal),
  }));
  for await (const { group, profiles } of read) {
    const whole: { partId: string; first: number; profile: string }[] = [];
    for (const [index, { partId, first: ordinal, count }] of group.ranges.entries()) {
      const profile = profiles[index] ?? emptyProfile();
      addProfile(all, profile);
      const first = ordinal - (ordinal % BLOCK_ITEMS);
      const name = nameOf({ partId, first });
      const block = blocks.get(name) ?? { items: 0, profile: emptyProfile() };
      addProfile(block.profile, profile);
      block.items += count;
      blocks.set(name, block);
      if (block.items < BLOCK_ITEMS) continue;
      whole.push({ partId, first, profile: formatProfile(block.profile) });
      blocks.delete(name);
    }
    if (whole.length > 0) await hubFiles.addProfiles(whole, format);
  }
  return planColumns(all);
}

const nameOf = ({ partId, first }: Pick<SectionRange, 'partId' | 'first'>): string => `${partId} ${first}`;

/** Cuts a range where blocks of its part end. */
function cutBlocks(range: SectionRange): readonly SectionRange[] {
  const blocks: SectionRange[] = [];
  for (let from = 0; from < range.count; ) {
    const to = Math.min(range.count, from + BLOCK_ITEMS - ((range.first + from) % BLOCK_ITEMS));
    blocks.push(...cutRange(range, from, to));
    from = to;
  }
  return blocks;
}

function formatProfile({ answer, meta, assets, hasListedImages }: Profile): string {
  return JSON.stringify([answer, meta && [...meta], assets && [...assets], hasListedImages]);
}

function parseProfile(text: string): Profile {
  type Entries = [string, number][] | null;
  const [answer, meta, assets, hasListedImages] = JSON.parse(text) as [number, Entries, Entries, boolean];
  return { answer, meta: meta && new Map(meta), assets: assets && new Map(assets), hasListedImages };
}
