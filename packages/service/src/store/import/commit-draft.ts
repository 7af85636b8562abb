import { canonicalJson } from '@svc/jsonl-v23/json';
import type pg from 'pg';
import { untilAborted } from '../../concurrency/index.ts';
import type { AssetWriter } from '../assets/asset-writer.ts';
import { checkOwnHandle, writeAudit } from '../audit/actor.ts';
import { CopyIn } from '../database/copy-in.ts';
import { type DatasetSummary, SUMMARY_SECTIONS, toSectionSummary } from '../database/dataset-row.ts';
import { asStoreErrors, StoreError, toStoreError } from '../database/errors.ts';
import { Parameters } from '../database/page.ts';
import { searchableText, storableText } from '../database/values.ts';
import { addProfiles } from '../hub-files/hub-items.ts';
import type { StoredProfile } from '../hub-files/profile.ts';
import { completeFor } from '../idempotency/idempotency-store.ts';
import { itemsInRanges, readRanges } from '../items/item-ranges.ts';
import { IS_CLUSTER } from '../items/read-session.ts';
import { completeJob } from '../jobs/job-store.ts';
import { hasCommitted, type Pool, Transaction, transactionIdOf } from '../postgres/pool.ts';
import { queryOf } from '../postgres/read-query.ts';
import { checkRunTexts, insertImportedRun } from '../runs/write/insert-imported-run.ts';
import { changeDataset } from '../versions/change-dataset.ts';
import { checkHandle, toHandleTaken } from '../versions/handle.ts';
import { readSummary } from '../versions/list-versions.ts';
import { toColumns } from '../versions/ranges.ts';
import type {
  DatasetMeta,
  DraftCommit,
  DraftHashes,
  NewDatasetTarget,
  SectionRecord,
  StoredImport,
  VersionTarget,
} from './draft-content.ts';
import { COPY_ITEMS } from './encode/encode-rows.ts';
import { findHome, type Home, keepItemHashes, placeInVersion } from './find-home.ts';

interface WrittenDraft {
  readonly id: string;
  readonly hashes: DraftHashes;
  readonly counts: { readonly itemCount: number; readonly assetCount: number };
  readonly profiles: readonly StoredProfile[];
  readonly rows: PartRows;
  readonly assets: AssetWriter | null;
  readonly dryRun: boolean;
}

/** Stores a draft as a dataset or version, or uses the one that it repeats. A run joins the dataset of its items. */
export async function commitDataset(
  draft: WrittenDraft,
  { handle, ifExists, message, author }: NewDatasetTarget,
  content: DraftCommit,
): Promise<StoredImport> {
  const { dataset: meta, run, ...end } = content;
  const { id, hashes, counts, rows, dryRun } = draft;
  const { sections, versionHash } = hashes;
  const dataset: NewDataset = { ...meta, handle, message, author, ...counts, id, versionHash };
  if (!dryRun && handle === null && ifExists === null && run?.joins != null) {
    const joined = await joinRun(draft, run, run.joins, { ...end, author });
    if (joined !== null) return joined;
    if (run.joins === 'ids only') {
      throw new StoreError(
        'invalid_request',
        'No dataset has the items of these results: send the requests of the batch with them.',
      );
    }
  }
  checkOwnHandle(handle);
  if (!dryRun && ifExists !== null) {
    const repeated = await rows.run((client) => findRepeated(client, dataset));
    if (repeated !== null) {
      if (ifExists !== 'version') return await reuse(draft, repeated, dataset, ifExists, end);
      const source = dataset.source === 'hub' ? 'hub' : 'upload';
      const change = { datasetId: repeated.id, mode: 'replace', source, message, author } as const;
      return await commitVersion(draft, { kind: 'version', change }, content);
    }
  }
  checkTexts(dataset, sections);
  if (run) checkRunTexts(run.facts);
  const stored = (createdAt: Date, runId: string | null): StoredImport => {
    return { dataset: summaryOf(dataset, sections, createdAt), changed: null, isNew: true, runId };
  };
  if (dryRun) {
    if (run) for await (const _ of run.results);
    return stored(new Date(), null);
  }
  const { createdAt, transactionId } = await rows.insertDataset(dataset, sections);
  const home = { ...dataset, version: 1 };
  const runId = run
    ? await rows.run((client) => insertImportedRun(client, home, run.facts, run.results, author))
    : null;
  return await endImport(draft, stored(createdAt, runId), end, transactionId);
}

/** Checks that the texts of a dataset can be stored. @throws StoreError `invalid_request` that names the field */
function checkTexts(
  { name, handle, message, description, notes }: NewDataset,
  sections: readonly SectionRecord[],
): void {
  storableText('name', name);
  if (handle !== null) checkHandle(handle);
  if (message !== null) storableText('message', message);
  if (description !== null) storableText('description', description);
  if (notes !== null) storableText('notes', notes);
  for (const section of sections) storableText('name of a section', section.name);
}

function summaryOf(
  { message: _, author: __, ...dataset }: NewDataset,
  sections: readonly SectionRecord[],
  createdAt: Date,
): DatasetSummary {
  return {
    ...dataset,
    version: 1,
    versionCount: 1,
    sectionCount: sections.length,
    sections: sections.slice(0, SUMMARY_SECTIONS).map(toSectionSummary),
    createdAt,
    updatedAt: createdAt,
  };
}

export async function commitVersion(
  draft: WrittenDraft,
  { change, edits }: VersionTarget,
  { dataset: meta, files = [], run, ...end }: DraftCommit,
): Promise<StoredImport> {
  const { hashes, rows, dryRun } = draft;
  if (change.section !== undefined && hashes.sections.some(({ isNamed }) => isNamed)) {
    const message = 'section must be left out: the body names its sections.';
    throw new StoreError('invalid_request', message, { path: 'section' });
  }
  if (run) checkRunTexts(run.facts);
  const staged = hashes.sections.map(({ name, isNamed, parts }) => ({
    section: isNamed ? name : null,
    ranges: parts,
  }));
  const provenance = { ...meta, files: files.map((file) => canonicalJson(file)).join(',') };
  const { place, ...stored } = await rows.run(async (client) => {
    if (run && change.mode !== 'replace') await keepItemHashes(client, hashes);
    const changed = await changeDataset(client, { ...change, edits, staged, provenance });
    const dataset = await readSummary(queryOf(client), changed.datasetId, changed.version);
    if (changed.isNew) {
      const counts = { mode: change.mode, ...changed.change };
      await writeAudit(client, 'dataset.change', { kind: 'dataset', id: dataset.id }, counts);
    }
    const isWhole = changed.versionHash === hashes.versionHash;
    const place = run && !isWhole ? await placeInVersion(client, dataset, hashes) : null;
    return { dataset, changed, isNew: changed.isNew, place };
  });
  // A package is checked to its end, which is also the end of its run.
  if (dryRun && run) for await (const _ of run.results);
  if (dryRun) return { ...stored, runId: null };
  // What is stored is what was there: only the run, the job and the response remain.
  if (!stored.isNew) await rows.discard();
  const author = change.author ?? null;
  const runId = run ? await rows.run((client) => addRun(client, stored.dataset, run, place, author)) : null;
  const written = stored.isNew ? draft : { rows, assets: null, profiles: [] };
  return await endImport(written, { ...stored, runId }, end);
}

async function addRun(
  client: pg.ClientBase,
  dataset: DatasetSummary,
  { facts, results }: NonNullable<DraftCommit['run']>,
  place: Home['place'] | null,
  author: string | null,
): Promise<string> {
  const known = await client.query<{ id: string }>(
    `SELECT id FROM runs WHERE dataset_id = $1 AND dataset_version = $2 AND $3::text IN (id::text, origin_id::text) LIMIT 1`,
    [dataset.id, dataset.version, facts.id],
  );
  const [run] = known.rows;
  if (run === undefined) {
    const placed = place === null ? results : place(results);
    return await insertImportedRun(client, dataset, facts, placed, author);
  }
  for await (const _ of results);
  return run.id;
}

async function endImport(
  { rows, assets, profiles }: Pick<WrittenDraft, 'rows' | 'assets' | 'profiles'>,
  stored: StoredImport,
  { job, response }: Pick<DraftCommit, 'job' | 'response'>,
  transactionId?: string,
): Promise<StoredImport> {
  const { id, version } = stored.dataset;
  if (job) await rows.run((client) => completeJob(client, job, id));
  if (response) await rows.run((client) => completeFor(client, response, stored));
  if (profiles.length > 0) await rows.run((client) => addProfiles({ pool: client }, profiles));
  // As late as possible: a concurrent import of the same files waits from here to the commit.
  if (assets !== null) await rows.run((client) => assets.store(client, id, version));
  await rows.commit(transactionId ?? (await rows.run(transactionIdOf)));
  return stored;
}

/** Adds the run to a dataset that has all of its items, and stores nothing else. Returns null if no dataset has them. */
async function joinRun(
  { hashes, rows }: WrittenDraft,
  { facts, results }: NonNullable<DraftCommit['run']>,
  joins: 'items' | 'ids' | 'ids only',
  { author, ...end }: Pick<DraftCommit, 'job' | 'response'> & Pick<NewDatasetTarget, 'author'>,
): Promise<StoredImport | null> {
  const idsAreHashes = joins !== 'items';
  const home = await rows.run((client) => findHome(client, hashes, idsAreHashes));
  if (home === null) return null;
  checkRunTexts(facts);
  await rows.discard();
  const joined = await rows.run(async (client) => {
    const dataset = await readSummary(queryOf(client), home.id, home.version);
    const runId = await insertImportedRun(client, home, facts, home.place(results), author);
    if (idsAreHashes) await takeItemIds(client, runId, { datasetId: home.id, version: home.version });
    return { dataset, changed: null, isNew: false, runId };
  });
  return await endImport({ rows, assets: null, profiles: [] }, joined, end);
}

async function reuse(
  { rows }: WrittenDraft,
  repeated: RepeatedDataset,
  { handle, versionHash }: NewDataset,
  ifExists: 'reuse' | 'error',
  end: Pick<DraftCommit, 'job' | 'response'>,
): Promise<StoredImport> {
  if (ifExists === 'error') throw datasetExists(repeated.id);
  if (repeated.versionHash !== versionHash) {
    throw new StoreError('handle_taken', `Another dataset has the handle "${handle}", and another content.`);
  }
  const dataset = await rows.run((client) => readSummary(queryOf(client), repeated.id, null));
  await rows.discard();
  const stored = { dataset, changed: null, isNew: false, runId: null };
  const { job, response } = end;
  return job || response ? await endImport({ rows, assets: null, profiles: [] }, stored, end) : stored;
}

export function datasetExists(id: string): StoreError {
  return new StoreError('dataset_exists', `The dataset already exists: ${id}.`);
}

interface RepeatedDataset {
  readonly id: string;
  readonly versionHash: string;
}

/**
 * Finds the dataset that a new one would repeat: that of the same handle, or without one the last of the same name and hash.
 * Other drafts of this name wait with their search until this transaction ends.
 */
async function findRepeated(client: pg.ClientBase, { name, handle, versionHash }: NewDataset) {
  const key = handle == null ? `name ${searchableText(name)}` : `handle ${handle.toLowerCase()}`;
  await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [key]);
  const from = `SELECT d.id, v.version_hash AS "versionHash"
    FROM datasets d JOIN versions v ON v.dataset_id = d.id AND v.version = d.version`;
  const { rows } =
    handle == null
      ? await client.query<RepeatedDataset>(
          `${from} WHERE d.name = $1 AND v.version_hash = $2 ORDER BY d.created_at DESC LIMIT 1`,
          [searchableText(name), versionHash],
        )
      : await client.query<RepeatedDataset>(`${from} WHERE lower(d.handle) = lower($1)`, [handle]);
  return rows[0] ?? null;
}

/** Gives the results of a run the ids of its items, which version `version` of dataset `datasetId` has. */
async function takeItemIds(
  client: pg.ClientBase,
  runId: string,
  { datasetId, version }: { readonly datasetId: string; readonly version: number },
): Promise<void> {
  const ranges = await readRanges(queryOf(client), { datasetId, version });
  const parameters = new Parameters([runId]);
  await client.query(
    `WITH item AS MATERIALIZED (
       SELECT i.section, i.order_index, i.item_id FROM ${itemsInRanges(ranges, parameters)} i
     )
     UPDATE run_results result SET item_id = item.item_id FROM item
     WHERE result.run_id = $1 AND result.section_order_index = item.section AND result.order_index = item.order_index
       AND result.item_id IS DISTINCT FROM item.item_id`,
    parameters.values,
  );
}

interface NewDataset extends DatasetMeta, Pick<NewDatasetTarget, 'handle' | 'message' | 'author'> {
  readonly id: string;
  readonly versionHash: string;
  readonly itemCount: number;
  readonly assetCount: number;
}

/** The rows of an import's parts, and the transaction that stores them, which begins with the first. */
export class PartRows {
  readonly #pool: Pool;
  readonly #signal: AbortSignal | undefined;
  readonly #isRolledBack: boolean;
  #target = COPY_ITEMS;
  #transaction: Transaction | undefined;
  #copy: CopyIn | undefined;
  #stored = 0;

  /** @param isRolledBack whether the rows are only compared: they leave nothing in tables and logs */
  constructor(pool: Pool, signal: AbortSignal | undefined, isRolledBack = false) {
    this.#pool = pool;
    this.#signal = signal;
    this.#isRolledBack = isRolledBack;
  }

  /** Adds rows; when this resolves, their memory is the caller's again. @throws as `CopyIn.write` */
  async write(rows: Uint8Array): Promise<void> {
    if (rows.byteLength === 0) return;
    if (this.#copy === undefined) {
      const client = await this.#begin();
      this.#copy = new CopyIn(client, this.#target, this.#signal);
    }
    await this.#copy.write(rows);
  }

  /** Waits for rows; ends early when the signal is aborted or the COPY fails. */
  async wait<T>(rows: Promise<T>): Promise<T> {
    return this.#copy === undefined ? await untilAborted(rows, this.#signal) : await this.#copy.wait(rows);
  }

  /** Runs statements after the rows so far. @throws StoreError `unavailable`; what `work` throws */
  async run<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    const client = await this.#begin();
    const copy = this.#copy;
    this.#copy = undefined;
    if (copy !== undefined) this.#stored += await copy.end();
    return await asStoreErrors(() => work(client));
  }

  /** Inserts the dataset after all of its rows. @throws StoreError `unavailable` */
  async insertDataset(dataset: NewDataset, sections: readonly SectionRecord[]) {
    const inserted = await this.run((client) => insertDataset(client, dataset, sections));
    if (this.#stored !== dataset.itemCount) {
      throw new Error(`${this.#stored} items were stored, and ${dataset.itemCount} were counted.`);
    }
    return inserted;
  }

  /** @param id number of the transaction, to find out whether it committed if the connection is lost during COMMIT */
  async commit(id: string): Promise<void> {
    this.#signal?.throwIfAborted();
    try {
      await this.#transaction?.commit();
    } catch (error) {
      const found = toStoreError(error);
      const isLost = found instanceof StoreError && found.code === 'unavailable';
      if (!isLost || !(await hasCommitted(this.#pool, id))) throw found;
    }
  }

  async discard(): Promise<void> {
    const [copy, transaction] = [this.#copy, this.#transaction];
    this.#copy = undefined;
    this.#transaction = undefined;
    this.#stored = 0;
    await copy?.abort(new Error('The transaction was not committed.'));
    await transaction?.[Symbol.asyncDispose]();
  }

  /** The connection of the transaction; of a new one if there is none. */
  async #begin(): Promise<pg.ClientBase> {
    this.#signal?.throwIfAborted();
    if (this.#transaction === undefined) {
      this.#transaction = await asStoreErrors(() => Transaction.begin(this.#pool));
      this.#target = COPY_ITEMS;
      if (this.#isRolledBack) await asStoreErrors(() => this.#stage());
    }
    return this.#transaction.client;
  }

  /** Lets the rows go to a temporary table, unless it would be on one node of a cluster only. */
  async #stage(): Promise<void> {
    const { client } = this.#transaction as Transaction;
    const { rows } = await client.query<{ readonly isCluster: boolean }>(IS_CLUSTER);
    if (rows[0]?.isCluster === true) return;
    await client.query(STAGE);
    this.#target = COPY_ITEMS.replace('items', 'staged_items');
  }
}

/** From here to its end, statements of the transaction take rows of the temporary table for rows of `items` too. */
const STAGE = `CREATE TEMPORARY TABLE staged_items (LIKE items INCLUDING INDEXES) ON COMMIT DROP;
  CREATE TEMPORARY VIEW items AS SELECT * FROM items UNION ALL SELECT * FROM staged_items;
  CREATE RULE insert_items AS ON INSERT TO items DO INSTEAD INSERT INTO staged_items VALUES (NEW.*);
  CREATE RULE delete_items AS ON DELETE TO items DO INSTEAD NOTHING`;

const INSERT_PARTS = `INSERT INTO parts (id, dataset_id, item_count, hash_state)
  SELECT id, $1, item_count, decode(state, 'hex') FROM unnest($2::uuid[], $3::int[], $4::text[]) AS part (id, item_count, state)`;

/** Arrays of parts are texts: an array of arrays has them all of one length. */
const INSERT_SECTIONS = `INSERT INTO sections (id, dataset_id, name, item_count, section_hash, file_bytes, file_sha256, part_ids,
    starts, firsts)
  SELECT id, $1, name, item_count, decode(section_hash, 'hex'), file_bytes, decode(file_sha256, 'hex'), part_ids::uuid[],
    starts::int[], firsts::int[]
  FROM unnest($2::uuid[], $3::text[], $4::int[], $5::text[], $6::bigint[], $7::text[], $8::text[], $9::text[], $10::text[])
    AS section (id, name, item_count, section_hash, file_bytes, file_sha256, part_ids, starts, firsts)`;

const INSERT_VERSION = `INSERT INTO versions (dataset_id, version, version_hash, section_ids, item_count, asset_count, message, author,
    source, created_at)
  SELECT id, version, $2, $3::uuid[], $4, $5, $6, $7, CASE source WHEN 'hub' THEN 'hub' ELSE 'upload' END, created_at
  FROM datasets WHERE id = $1`;

/** The time is the time of the commit, not of the transaction's start: lists show the newest first. */
const INSERT_DATASET = `INSERT INTO datasets (id, name, handle, description, notes, source, schema, created_at, updated_at)
  SELECT $1, $2, $3, $4, $5, $6, $7, now, now FROM clock_timestamp() AS now
  RETURNING created_at AS "createdAt", pg_current_xact_id()::text AS "transactionId"`;

async function insertDataset(client: pg.ClientBase, dataset: NewDataset, sections: readonly SectionRecord[]) {
  const { id, name, handle, message, author, description, notes, source, versionHash, schema } = dataset;
  const { rows } = await client
    .query<{ createdAt: Date; transactionId: string }>(INSERT_DATASET, [
      id,
      name,
      handle,
      description,
      notes,
      source,
      schema,
    ])
    .catch((error: unknown) => {
      throw toHandleTaken(error, handle);
    });
  const ids = sections.map(({ id }) => id);
  const counts = [dataset.itemCount, dataset.assetCount];
  await client.query(INSERT_VERSION, [id, versionHash, ids, ...counts, message, author]);
  const parts = sections.flatMap((section) =>
    section.parts.map((part) => {
      // Items are appended after the last part.
      const isLast = part === section.parts.at(-1);
      return { ...part, state: isLast ? hex(section.sectionHash) + hex(section.hashState) : null };
    }),
  );
  await client.query(INSERT_PARTS, [
    id,
    parts.map(({ partId }) => partId),
    parts.map(({ count }) => count),
    parts.map(({ state }) => state),
  ]);
  await client.query(INSERT_SECTIONS, [
    id,
    ids,
    sections.map(({ name }) => name),
    sections.map(({ itemCount }) => itemCount),
    sections.map(({ sectionHash }) => hex(sectionHash)),
    sections.map(({ exportFile }) => exportFile?.bytes ?? null),
    sections.map(({ exportFile }) => (exportFile === null ? null : hex(exportFile.sha256))),
    ...(['partIds', 'starts', 'firsts'] as const).map((column) =>
      sections.map((section) => `{${toColumns(section.parts)[column].join(',')}}`),
    ),
  ]);
  await writeAudit(
    client,
    'dataset.create',
    { kind: 'dataset', id },
    { items: dataset.itemCount, assets: dataset.assetCount, sections: sections.length },
  );
  return rows[0] as (typeof rows)[number];
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
