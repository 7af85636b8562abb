import { randomUUID } from 'node:crypto';
import type { RunFailure } from '@svc/evaluation';
import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import type pg from 'pg';
import { storableText } from '../database/values.ts';
import { type ImportedResult, insertWritten } from './insert-results.ts';
import { storeSummary } from './scores/summarize-run.ts';

/** A finished run from a package. */
export interface ImportedRun {
  /** Its UUID in the package; null if unknown. */
  readonly id: string | null;
  readonly name: string | null;
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly error: RunFailure | null;
  /** 64 hex digits; null for the version of the dataset. */
  readonly datasetVersionHash: string | null;
  readonly startedAt: Date | null;
  /** Null for now. */
  readonly finishedAt: Date | null;
  /** Without secrets. */
  readonly config: JsonObject;
  /** Null for 1. */
  readonly repetitions: number | null;
  /** Results of the whole run, as the package states; null for one of each repetition of each item. */
  readonly total: number | null;
}

/** The largest number of an `integer` column. */
const MAX_INTEGER = 2_147_483_647;

/** Checks that the texts of a run can be stored. @throws StoreError `invalid_request` */
export function checkRunTexts({ name }: ImportedRun): void {
  if (name !== null) storableText('name of the run', name);
}

/** Inserts a run that has finished, and so is never queued, with its results and their scores. */
export async function insertImportedRun(
  client: pg.ClientBase,
  dataset: { readonly id: string; readonly versionHash: string; readonly itemCount: number },
  run: ImportedRun,
  batches: AsyncIterable<readonly ImportedResult[]>,
): Promise<void> {
  const id = randomUUID();
  const repetitions = run.repetitions ?? 1;
  const most = Math.min(dataset.itemCount * repetitions, MAX_INTEGER);
  await client.query(
    `INSERT INTO runs (id, dataset_id, dataset_version_hash, name, status, config, repetitions, total, error, started_at,
       finished_at, imported, origin_id, created_at)
     SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, coalesce($11, now), true, $12, now
     FROM clock_timestamp() AS now`,
    [
      id,
      dataset.id,
      run.datasetVersionHash ?? dataset.versionHash,
      run.name,
      run.status,
      canonicalJson(run.config),
      repetitions,
      Math.min(run.total ?? most, most),
      run.error === null ? null : canonicalJson({ ...run.error }),
      run.startedAt,
      run.finishedAt,
      run.id,
    ],
  );
  for await (const results of batches) {
    const inserted = await insertWritten(client, id, results);
    if (inserted !== results.length) throw new Error('An imported run has two results of one item.');
  }
  await client.query('UPDATE runs SET total = greatest(total, ok + failed + unscored) WHERE id = $1', [id]);
  await storeSummary(client, id);
}
