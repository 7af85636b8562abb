import { randomUUID } from 'node:crypto';
import { canonicalJson, getMember, isJsonObject, type JsonObject } from '@svc/jsonl-v23/json';
import type { PackagedRun } from '@svc/jsonl-v23/runs';
import type pg from 'pg';
import { type RunPrices, readPrices } from '../../../evaluation/index.ts';
import { writeAudit } from '../../audit/actor.ts';
import type { DatasetSummary } from '../../database/dataset-row.ts';
import { StoreError } from '../../database/errors.ts';
import { storableText } from '../../database/values.ts';
import { MAX_INTEGER } from '../create-run.ts';
import { proveImported } from '../prove-run.ts';
import { keyColumns } from '../run-results.ts';
import { insertedColumns } from '../run-row.ts';
import { storeSummary } from '../scores/summarize-run.ts';
import { type ImportedResult, insertResults } from './insert-results.ts';

/** A finished run from a package, which states what is not null. */
export interface ImportedRun extends PackagedRun {
  /** Without secrets. */
  readonly config: JsonObject;
  /** Null for 1. */
  readonly repetitions: number | null;
  /** Results of the whole run; null for one of each repetition of each item. */
  readonly total: number | null;
  /** Canonical text. */
  readonly bar: string | null;
  /** As the package states it. */
  readonly verdict: JsonObject | null;
}

/** Checks that the texts of a run can be stored. @throws StoreError `invalid_request` */
export function checkRunTexts({ name }: ImportedRun): void {
  if (name !== null) storableText('name of the run', name);
}

/** Who imported a run where no keys are configured. */
const ANONYMOUS = 'anonymous';

/**
 * Inserts a run that has finished, and so is never queued, with its results and their scores.
 *
 * @param author who imports it: the name of a key; null without keys
 * @throws StoreError `package_hash_mismatch` if the run has the items of its package, but another hash
 */
export async function insertImportedRun(
  client: pg.ClientBase,
  dataset: Pick<DatasetSummary, 'id' | 'version' | 'versionHash' | 'itemCount'>,
  run: ImportedRun,
  batches: AsyncIterable<readonly ImportedResult[]>,
  author: string | null,
): Promise<string> {
  const id = randomUUID();
  const { id: originId, finishedAt, runHash, verdict, ...stated } = run;
  const repetitions = run.repetitions ?? 1;
  const most = Math.min(dataset.itemCount * repetitions, MAX_INTEGER);
  const { names, parameters, values } = insertedColumns({
    ...stated,
    ...{ id, originId, repetitions, datasetId: dataset.id, datasetVersion: dataset.version, imported: true },
    datasetVersionHash: run.datasetVersionHash ?? dataset.versionHash,
    config: canonicalJson(run.config),
    createdBy: author ?? ANONYMOUS,
    total: Math.min(run.total ?? most, most),
    error: run.error === null ? null : canonicalJson({ ...run.error }),
  });
  await client.query(
    `INSERT INTO runs (${names}, finished_at, created_at)
     SELECT ${parameters}, coalesce($${values.length + 1}, now), now FROM clock_timestamp() AS now`,
    [...values, finishedAt],
  );
  const prices = pricesOf(run.config);
  let stored = 0;
  for await (const results of batches) {
    const { written } = await insertResults(client, id, results, prices);
    if (written !== results.length) throw new Error('An imported run has two results of one item.');
    await insertLabels(client, { runId: id, datasetId: dataset.id }, results);
    stored += written;
  }
  await client.query(
    'UPDATE runs SET total = greatest(total, ok + failed + unscored), verdict = $2 WHERE id = $1',
    [id, verdict === null ? null : canonicalJson(verdict)],
  );
  await storeSummary(client, id);
  await writeAudit(client, 'run.create', { kind: 'run', id }, { results: stored, imported: true });
  const proven = await proveImported(client, id);
  if (runHash !== null && dataset.versionHash === run.datasetVersionHash && runHash !== proven) {
    const message = `The run has the hash ${proven}; the manifest states ${runHash}.`;
    throw new StoreError('package_hash_mismatch', message);
  }
  return id;
}

function pricesOf(config: JsonObject): RunPrices {
  const judge = getMember(config, 'judge');
  const priceOf = (value: JsonObject): string => canonicalJson(getMember(value, 'price') ?? null);
  return readPrices(priceOf(config), isJsonObject(judge) ? priceOf(judge) : null);
}

/**
 * $1 the run, then the members of labels, and the dataset. Types pass as JSON, since a parameter with arrays of arrays would be one long
 * array. No package can change what a person said here, nor say it in the future.
 */
const INSERT = `
  INSERT INTO labels (item_hash, output_hash, person, verdict, note, types, created_at, updated_at, imported, dataset_id)
  SELECT result.item_hash, result.output_hash, stated.person, stated.verdict, stated.note,
    ARRAY(SELECT json_array_elements_text(stated.types::json)), least(stated.created_at, now()), least(stated.updated_at, now()), true, $11::uuid
  FROM unnest($2::int[], $3::int[], $4::int[], $5::text[], $6::text[], $7::text[], $8::text[], $9::timestamptz[], $10::timestamptz[])
      AS stated (section, item, repetition, person, verdict, note, types, created_at, updated_at)
    JOIN run_results result ON result.run_id = $1 AND result.section_order_index = stated.section
      AND result.order_index = stated.item AND result.repetition = stated.repetition
  WHERE result.item_hash IS NOT NULL AND result.output_hash IS NOT NULL
  ORDER BY 1, 2, 3
  ON CONFLICT (item_hash, output_hash, person) DO NOTHING`;

/** Stores the labels of results that a package brings, where their people have said nothing of the outputs yet. */
async function insertLabels(
  client: pg.ClientBase,
  { runId, datasetId }: { readonly runId: string; readonly datasetId: string },
  results: readonly ImportedResult[],
): Promise<void> {
  const stated = results.flatMap((result) => (result.labels ?? []).map((label) => ({ ...result, ...label })));
  if (stated.length === 0) return;
  await client.query(INSERT, [
    runId,
    ...keyColumns(stated),
    stated.map(({ by }) => by),
    stated.map(({ verdict }) => verdict),
    stated.map(({ note }) => note),
    stated.map(({ types }) => JSON.stringify(types)),
    stated.map(({ createdAt }) => createdAt),
    stated.map(({ updatedAt }) => updatedAt),
    datasetId,
  ]);
}
