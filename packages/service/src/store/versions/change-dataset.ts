import { versionHash } from '@svc/jsonl-v23';
import { parseJson } from '@svc/jsonl-v23/json';
import type pg from 'pg';
import { storableText } from '../database/values.ts';
import { type DiffCounts, NO_DIFFERENCE } from '../diff/compare-sections.ts';
import {
  copyItems,
  countDifferences,
  insertVersion,
  keepStaged,
  type NewSection,
  type PlannedSection,
  type StagedItems,
  type StoredSectionState,
  saveHashState,
  storeSection,
} from './insert-version.ts';
import { type Edit, placeEdits, placeUpsert, reuseItems } from './place-items.ts';
import {
  editRanges,
  type ItemRange,
  itemCountOf,
  joinRanges,
  rangeFinder,
  subtractRanges,
} from './ranges.ts';
import { lockNewest, type SectionState, type VersionState } from './read-version.ts';
import { type ChangeProvenance, countAssets, endAssets, insertProvenance } from './version-sources.ts';

export interface DatasetChange {
  readonly datasetId: string;
  readonly mode: 'append' | 'upsert' | 'replace' | 'edit';
  readonly staged: readonly StagedItems[];
  /** In mode `edit`: the n-th edit that is not a removal uses the n-th staged item. */
  readonly edits?: readonly Edit[] | undefined;
  /** Section of a body that names none; by default the only one, or `default`. */
  readonly section?: string | undefined;
  readonly ifMatch?: string | undefined;
  /** What a version of mode `replace` says of itself; by default its mode. */
  readonly source?: 'upload' | 'hub' | undefined;
  /** Where the items come from; edits come from nowhere else. */
  readonly provenance?: ChangeProvenance | undefined;
  readonly message?: string | null | undefined;
  readonly author?: string | null | undefined;
}

export interface ChangedDataset {
  readonly datasetId: string;
  readonly version: number;
  readonly versionHash: string;
  /** False if the content is what it was: there is no new version. */
  readonly isNew: boolean;
  readonly change: DiffCounts;
}

/**
 * Makes the next version of a dataset, in the transaction that has stored its items. Changes of one dataset are made one after
 * the other, each on the newest version.
 *
 * @throws StoreError `dataset_not_found`; `version_changed` for another version than `ifMatch`; `ambiguous_id`,
 * `item_not_found`; `invalid_request` for a text that PostgreSQL cannot hold
 */
export async function changeDataset(client: pg.ClientBase, change: DatasetChange): Promise<ChangedDataset> {
  const { datasetId, mode, staged, source, message = null, author = null } = change;
  if (message !== null) storableText('message', message);
  const before = await lockNewest(client, datasetId, change.ifMatch);
  const plan = await PLANS[mode](client, before, change);
  const sections: StoredSectionState[] = [];
  for (const section of plan.sections) sections.push(await storeSection(client, datasetId, section));
  await keepStaged(client, datasetId, staged, rangesOf(sections));
  for (const section of sections) await saveHashState(client, section);
  const version = before.version + 1;
  const hash = versionHash(sections.map(({ sectionHash }) => sectionHash));
  const unchanged = { datasetId, version: before.version, versionHash: before.versionHash, isNew: false };
  if (hash === before.versionHash) return { ...unchanged, change: NO_DIFFERENCE };

  const { provenance } = change;
  const sources =
    provenance === undefined || mode === 'edit'
      ? before.sources
      : await insertProvenance(client, { ...before, version }, provenance, mode === 'replace');
  const after = { ...before, version, versionHash: hash, sources, sections };
  const removed = subtractRanges(rangesOf(before.sections), rangesOf(sections));
  const added = subtractRanges(rangesOf(sections), rangesOf(before.sections));
  const assetCount =
    before.assetCount - (await countAssets(client, removed)) + (await countAssets(client, added));
  await endAssets(client, { datasetId, version }, removed, rangesOf(sections));
  const counts = plan.change ?? (await countDifferences(client, before, after));
  await insertVersion(
    client,
    { ...after, assetCount },
    { source: source ?? mode, message, author, change: counts },
  );
  return { datasetId, version, versionHash: hash, isNew: true, change: counts };
}

const rangesOf = (sections: readonly { readonly ranges: readonly ItemRange[] }[]): ItemRange[] =>
  sections.flatMap(({ ranges }) => ranges);

interface Plan {
  readonly sections: readonly PlannedSection[];
  readonly change?: DiffCounts;
}

const PLANS = { append: planAppend, upsert: planUpsert, replace: planReplace, edit: planEdit } as const;

function* stagedBySection(
  { sections }: VersionState,
  { staged, section }: DatasetChange,
): Generator<readonly [SectionState | NewSection, readonly StagedItems[]]> {
  const named = Map.groupBy(staged, (items) => sectionNameOf(sections, { section }, items.section));
  for (const old of sections) {
    yield [old, named.get(old.name) ?? []];
    named.delete(old.name);
  }
  for (const [name, items] of named) yield [{ id: null, name, ranges: [], appendedTo: null }, items];
}

/** The name of the section of staged items. @param named the one that their source names; null for none */
export function sectionNameOf(
  sections: readonly SectionState[],
  { section }: Pick<DatasetChange, 'section'>,
  named: string | null,
): string {
  const [only] = sections;
  return named ?? section ?? (sections.length === 1 && only !== undefined ? only.name : 'default');
}

async function planAppend(client: pg.ClientBase, before: VersionState, change: DatasetChange): Promise<Plan> {
  const sections: PlannedSection[] = [];
  let added = 0;
  for (const [old, staged] of stagedBySection(before, change)) {
    const ranges: ItemRange[] = [...old.ranges];
    for (const items of staged) {
      added += itemCountOf(items.ranges);
      ranges.push(...(await moveToEnd(client, ranges.at(-1), items)));
    }
    sections.push(
      staged.length === 0 ? old : { ...newSection(old, joinRanges(ranges)), appendedTo: baseOf(old) },
    );
  }
  return { sections, change: { ...NO_DIFFERENCE, added } };
}

const newSection = ({ name }: { readonly name: string }, ranges: readonly ItemRange[]): NewSection => ({
  ...{ id: null, name, ranges },
  appendedTo: null,
});

const baseOf = (section: PlannedSection): SectionState | null =>
  section.id === null ? section.appendedTo : section;

/** More items stay the part that they are. */
const MAX_MOVED_ITEMS = 1_000;
/** So do those with more bytes, because all of them are written again. */
const MAX_MOVED_BYTES = 4 * 1024 * 1024;

/** Moves a few items to the end of a part, so that many small changes do not make many parts. */
async function moveToEnd(client: pg.ClientBase, last: ItemRange | undefined, staged: StagedItems) {
  const { ranges } = staged;
  const itemCount = itemCountOf(ranges);
  if (last === undefined || itemCount === 0 || itemCount > MAX_MOVED_ITEMS) return ranges;
  const partIds = ranges.map(({ partId }) => partId);
  const { rows } = await client.query<{ bytes: string }>(
    'SELECT sum(byte_length) AS bytes FROM items WHERE part_id = ANY ($1::uuid[])',
    [partIds],
  );
  if (Number(rows[0]?.bytes) > MAX_MOVED_BYTES) return ranges;
  const end = last.first + last.count;
  const { rowCount } = await client.query(
    'UPDATE parts SET item_count = item_count + $3 WHERE id = $1 AND item_count = $2',
    [last.partId, end, itemCount],
  );
  if (rowCount === 0) return ranges;
  // A row cannot go to another part, which may be on another node; `keepStaged` removes it.
  await copyItems(client, ranges, { partId: last.partId, ordinal: end });
  return [{ partId: last.partId, first: end, count: itemCount }];
}

async function planUpsert(client: pg.ClientBase, before: VersionState, change: DatasetChange): Promise<Plan> {
  const sections: PlannedSection[] = [];
  let [added, changed] = [0, 0];
  for (const [old, staged] of stagedBySection(before, change)) {
    let section: PlannedSection = old;
    for (const { ranges: items } of staged) {
      const { edits, appended } = await placeUpsert(client, section.ranges, items);
      added += itemCountOf(appended);
      changed += edits.length;
      if (edits.length + appended.length === 0 && section.id !== null) continue;
      const ranges = joinRanges([...editRanges(section.ranges, edits), ...appended]);
      section = { ...newSection(old, ranges), appendedTo: edits.length === 0 ? baseOf(section) : null };
    }
    sections.push(section);
  }
  return { sections, change: { ...NO_DIFFERENCE, added, changed } };
}

async function planReplace(
  client: pg.ClientBase,
  before: VersionState,
  change: DatasetChange,
): Promise<Plan> {
  const { staged } = change;
  const names = staged.map((items) => sectionNameOf(before.sections, change, items.section));
  const reused = await reuseItems(client, before, staged);
  return { sections: names.map((name, index) => newSection({ name }, reused[index] ?? [])) };
}

async function planEdit(client: pg.ClientBase, before: VersionState, change: DatasetChange): Promise<Plan> {
  const { edits = [], staged } = change;
  const findItem = rangeFinder(staged.flatMap(({ ranges }) => ranges));
  const ordinals = new Map(
    edits.filter(({ isRemoval }) => !isRemoval).map((edit, ordinal) => [edit, ordinal]),
  );
  const places = await placeEdits(client, before, edits);
  const bySection = Map.groupBy(places, ({ section }) => section);
  const sections = before.sections.map((old, index): PlannedSection => {
    const placed = bySection.get(index);
    if (placed === undefined) return old;
    const sorted = placed.toSorted((a, b) => a.position - b.position);
    const itemEdits = sorted.map(({ edit, position }) => {
      const ordinal = ordinals.get(edit);
      const [item] = ordinal === undefined ? [] : findItem(ordinal, 1);
      return { position, item: item === undefined ? null : { partId: item.partId, ordinal: item.first } };
    });
    return newSection(old, editRanges(old.ranges, itemEdits));
  });
  return { sections };
}

/**
 * What the ids of rows without an id are made of that are appended to a section: its name, and a number from which on no
 * such id is taken, as far as the length and the last item of the section tell. The dataset stays as it is until the
 * transaction ends.
 */
export async function nextMadeId(
  client: pg.ClientBase,
  change: Pick<DatasetChange, 'datasetId' | 'ifMatch' | 'section'>,
  named: string | null,
): Promise<{ readonly split: string; readonly idOffset: number }> {
  const { sections } = await lockNewest(client, change.datasetId, change.ifMatch);
  const split = sectionNameOf(sections, change, named);
  const section = sections.find(({ name }) => name === split);
  const last = section?.ranges.at(-1);
  if (section === undefined || last === undefined) return { split, idOffset: 0 };
  const { rows } = await client.query<{ id: string | null }>(
    'SELECT item_id AS id FROM items WHERE part_id = $1 AND ordinal = $2',
    [last.partId, last.first + last.count - 1],
  );
  return { split, idOffset: Math.max(section.itemCount, numberOf(rows[0]?.id, split) + 1) };
}

function numberOf(id: string | null | undefined, split: string): number {
  const text = id == null ? null : parseJson(id);
  if (typeof text !== 'string' || !text.startsWith(`${split}-`)) return -1;
  const number = text.slice(split.length + 1);
  return /^\d{1,9}$/.test(number) ? Number(number) : -1;
}
