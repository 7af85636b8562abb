import type { ItemParts } from '@svc/jsonl-v23';
import type { LinkedParts } from '@svc/jsonl-v23/assets';
import type { JsonValue } from '@svc/jsonl-v23/json';
import { readLinkedFiles } from '../assets/linked-files-column.ts';
import { createAssetReader } from '../assets/read-ahead.ts';
import type { StoreContext } from '../context.ts';
import {
  DATASET_BYTES,
  type DatasetRow,
  type DatasetSummary,
  datasetsWith,
  nothingToRead,
  SECTION_COLUMNS,
  type StoredSection,
  type StoredSectionRow,
  SUMMARY_SECTIONS,
  toSectionSummary,
  toStoredSection,
  WHOLE_DATASET,
  withAddedFiles,
} from '../database/dataset-row.ts';
import { StoreError } from '../database/errors.ts';
import { Parameters } from '../database/page.ts';
import { readStoredJson } from '../database/read-stored-json.ts';
import { isUuid, itemTooLarge, runNotFound } from '../database/values.ts';
import { itemsInRanges, ofVersion, readRangesBetween, readRangesOf } from '../items/item-ranges.ts';
import { openReadSession, READ_BY_KEY } from '../items/read-session.ts';
import { createReads, type ReadQuery } from '../postgres/read-query.ts';
import { stateOfLabels } from '../runs/labels/run-labels.ts';
import { readResults } from '../runs/run-results.ts';
import { RUN_COLUMNS, type Run, readRun } from '../runs/run-row.ts';

/** A dataset at one moment, for as long as it is open: it holds a connection and a snapshot. */
export type OpenDataset = Awaited<ReturnType<typeof openDataset>>;

export type ExportedRun = Omit<Run, 'config' | 'error'> & {
  readonly config: JsonValue;
  readonly error: JsonValue;
  /** Names the state of the labels of its results. */
  readonly labelsState: string;
};

export interface OpenDatasetOptions {
  /** By default that of the run, else the newest. */
  readonly version?: number | null | undefined;
  readonly runId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Opens a dataset for an export: everything read through it is of one moment. @throws StoreError `dataset_not_found` */
export async function openDataset(
  context: StoreContext,
  id: string,
  { version = null, runId, signal }: OpenDatasetOptions = {},
) {
  const { maxItemBytes } = context;
  const { session, query } = await openReadSession(context, signal);
  try {
    await query(READ_BY_KEY);
    const dataset = await readWhole(
      query,
      id,
      version ?? (await versionOfRun(query, id, runId)),
      maxItemBytes,
    );
    const rows = await query<StoredSectionRow>(
      `SELECT ${SECTION_COLUMNS} FROM version_sections s WHERE ${ofVersion('$1', '$2')} ORDER BY order_index`,
      [id, dataset.version],
    );
    const sections = rows.map(toStoredSection);
    await refuseTooLarge(query, sections, maxItemBytes);
    // From here on it takes as long as its reader does.
    await query('SET LOCAL statement_timeout = 0');
    return {
      dataset: { ...dataset, sections: sections.slice(0, SUMMARY_SECTIONS).map(toSectionSummary) },
      sections,
      /** Items in section and item order, one reader at a time; a reader that stops early ends it for good. */
      items: (wanted: readonly StoredSection[] = sections) => session.items(wanted),
      lines: (wanted: readonly StoredSection[] = sections) => session.lines(wanted),
      /** One item again; not while items are being read. */
      async itemAt(section: Pick<StoredSection, 'id'>, orderIndex: number): Promise<LinkedParts> {
        const ranges = await readRangesBetween(query, section.id, orderIndex, orderIndex + 1);
        const parameters = new Parameters();
        const [row] = await query<ItemParts & { readonly linked: string | null }>(
          `SELECT payload::text AS payload, answer::text AS answer, checker::text AS checker, assets::text AS assets,
             linked_files::text AS linked
           FROM ${itemsInRanges(ranges, parameters, `AND i.byte_length <= ${maxItemBytes}`)} AS item`,
          parameters.values,
        );
        if (row === undefined) throw new Error(`section ${section.id} has no item ${orderIndex} to be read`);
        const { linked, ...parts } = row;
        return { ...parts, linkedFiles: readLinkedFiles(linked) };
      },
      /** The content of a linked file; also while items are being read. Small files are read ahead together. */
      content: createAssetReader({
        assets: context.assets,
        reads: createReads(context.pool, signal),
        signal,
      }),
      /** @throws StoreError `run_not_found` when there is none, or it is of another dataset, or of other items of this one */
      async run(runId: string): Promise<ExportedRun> {
        const [run] = isUuid(runId)
          ? await query<Run>(
              `SELECT ${RUN_COLUMNS} FROM runs WHERE id = $1 AND dataset_id = $2 AND dataset_version_hash = $3`,
              [runId, id, dataset.versionHash],
            )
          : [];
        if (run === undefined) throw runNotFound(runId);
        // Results are added up as they arrive, and rounding depends on the order; an export adds them up in item order.
        const [sum] = await query<Pick<Run['scores'], 'mean'>>(
          `SELECT sum(score ORDER BY section_order_index, order_index, repetition) / nullif(count(score), 0) AS mean
           FROM run_results WHERE run_id = $1`,
          [runId],
        );
        const { config, error, ...facts } = { ...run, scores: { ...run.scores, ...sum } };
        return {
          ...facts,
          config: readStoredJson(config),
          error: readNullable(error),
          labelsState: await stateOfLabels(query, runId),
        };
      },
      results: (runId: string) => readResults(query, runId, maxItemBytes),
      /** The same, also while items are being read: on other connections, and so as they are then. */
      resultsBeside: (runId: string) =>
        readResults(createReads(context.pool, signal).query, runId, maxItemBytes),
      anyRun: (runId: string) => readRun(query, runId),
      [Symbol.asyncDispose]: () => session.close(),
    };
  } catch (error) {
    await session.close();
    throw error;
  }
}

const readNullable = (text: string | null): JsonValue => (text === null ? null : readStoredJson(text));

/** @throws StoreError `run_not_found` */
async function versionOfRun(query: ReadQuery, id: string, runId: string | undefined): Promise<number | null> {
  if (runId === undefined) return null;
  const [run] = isUuid(runId)
    ? await query<{ version: number }>(
        'SELECT dataset_version AS version FROM runs WHERE id = $1 AND dataset_id = $2',
        [runId, id],
      )
    : [];
  if (run === undefined) throw runNotFound(runId);
  return run.version;
}

/** `manifest.json` and `meta.json` of an archive have the limit of a line each, and a dataset's texts contain both. */
const MAX_DATASET_ITEMS = 4;

async function readWhole(
  query: ReadQuery,
  id: string,
  version: number | null,
  maxItemBytes: number,
): Promise<Omit<DatasetSummary, 'sections'>> {
  const from = datasetsWith('coalesce($2, d.version)');
  const [size] = await query<{ bytes: string }>(
    `SELECT ${DATASET_BYTES} AS bytes FROM ${from} WHERE id = $1`,
    [id, version],
  );
  if (size === undefined) throw await nothingToRead(query, id, version);
  if (Number(size.bytes) > MAX_DATASET_ITEMS * maxItemBytes) {
    throw new StoreError(
      'item_too_large',
      `Schema, description and notes of the dataset have ${size.bytes} bytes.`,
    );
  }
  const [dataset] = await query<DatasetRow>(`SELECT ${WHOLE_DATASET} FROM ${from} WHERE id = $1`, [
    id,
    version,
  ]);
  if (dataset === undefined) throw await nothingToRead(query, id, version);
  return withAddedFiles(dataset);
}

/** Throws early if a section has an item that is too large: looks only where items embed files; others fail later. */
async function refuseTooLarge(query: ReadQuery, sections: readonly StoredSection[], maxItemBytes: number) {
  const suspects = sections.filter(
    ({ exportFile }) => exportFile === null || exportFile.bytes > maxItemBytes,
  );
  if (suspects.length === 0) return;
  const ranges = await readRangesOf(
    query,
    suspects.map(({ id }) => id),
  );
  const parameters = new Parameters();
  const [found] = await query<{ readonly section: number; readonly orderIndex: number }>(
    `SELECT section, order_index AS "orderIndex"
     FROM ${itemsInRanges(ranges, parameters, `AND i.byte_length > ${maxItemBytes}`)} AS item LIMIT 1`,
    parameters.values,
  );
  if (found === undefined) return;
  const section = suspects[found.section]?.name ?? '';
  throw itemTooLarge('Item', { section, orderIndex: found.orderIndex }, maxItemBytes);
}
