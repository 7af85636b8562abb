import { dryRun, type ImportSource, importDataset, observeImport, requestFailure } from '@svc/flows';
import type { Logger, Metrics } from '@svc/instrumentation';
import { invalidRequest, json, type RouteResponse, type Schema, toJsonText } from '@svc/runtime';
import {
  datasetExists,
  type IdempotencyClaim,
  ImportReport,
  type ImportTarget,
  type Store,
  type StoredImport,
  type StoredResponse,
  StoreError,
} from '@svc/store';
import { serializeDryRun } from '../hub/serialize.ts';
import { type ChangeFacts, datasetChanged, datasetCreated, serializeSummary } from './change.ts';

export interface ImportNowDeps {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly store: Pick<Store, 'datasets'>;
}

/** What an import is made of, and what it makes. */
export interface WantedImport {
  readonly source: ImportSource;
  readonly target: ImportTarget;
}

/** Imports within a request. @param claim of an idempotent request, which gets the response */
export async function importNow(
  { store, ...observers }: ImportNowDeps,
  { source, target }: WantedImport,
  signal: AbortSignal,
  claim: IdempotencyClaim | undefined,
): Promise<StoredResponse> {
  const report = new ImportReport();
  await using draft = await store.datasets.begin({ signal, report, target });
  const observed = observeImport(observers, source.start, target, draft);
  try {
    const content = await importDataset(source, draft, report, signal);
    const response = claim === undefined ? undefined : { claim, of: importStored };
    const stored = await draft.commit({ ...content, response });
    observed.finished(stored);
    return importStored(stored);
  } catch (error) {
    observed.failed(error, requestFailure(error, signal));
    throw error;
  }
}

/** The response to an import: of a change, a new dataset, or one that is used again. */
function importStored({ dataset, changed, isNew, runId }: StoredImport): StoredResponse {
  if (changed !== null) return datasetChanged(dataset, changed);
  if (isNew) return datasetCreated(dataset);
  return {
    status: 200,
    headers: { Location: `/datasets/${dataset.id}` },
    body: toJsonText({
      ...serializeSummary(dataset),
      ...(runId === null ? {} : { dataset_id: dataset.id, run_id: runId }),
    }),
  };
}

/** Does what an import does, stores nothing, and responds with what it found. */
export async function dryRunNow(
  { store }: Pick<ImportNowDeps, 'store'>,
  { source, target }: WantedImport,
  signal: AbortSignal,
): Promise<RouteResponse> {
  const report = new ImportReport();
  await using draft = await store.datasets.begin({ signal, report, target, dryRun: true });
  return json(serializeDryRun(await dryRun(source, draft, report, signal)));
}

export type IfExists = 'reuse' | 'version' | 'error';

/** The query of requests that make datasets. */
export const IF_EXISTS: Readonly<Record<'if_exists', Schema>> = {
  if_exists: {
    type: 'string',
    enum: ['reuse', 'version', 'error'],
    description:
      'what to do if a dataset with the same handle exists, or, without a handle, one with the same name and hash: `reuse` returns it (200), `version` stores the content as its next version, `error` refuses the request',
  },
};

/** Error codes of {@link importTarget}, and of the import that it is for. */
export const TARGET_ERRORS: readonly string[] = ['handle_taken', 'dataset_exists', 'version_changed'];

export interface WantedTarget extends ChangeFacts {
  readonly handle: string | null;
  readonly ifExists: IfExists | undefined;
  readonly source: 'upload' | 'hub';
  readonly signal: AbortSignal;
}

/**
 * What a request that makes a dataset makes: with `if_exists=version`, the next version of the dataset with its handle.
 *
 * @throws RequestError `invalid_request` for `version` without a handle; StoreError `handle_taken`, `dataset_exists`
 */
export async function importTarget(
  datasets: Pick<Store['datasets'], 'resolve'>,
  { handle, ifExists, source, ifMatch, message, author, signal }: WantedTarget,
): Promise<ImportTarget> {
  if (ifExists === 'version' && handle === null) {
    throw invalidRequest('handle', 'if_exists=version needs a handle.');
  }
  const existing = handle === null ? null : await findByHandle(datasets, handle, signal);
  if (existing !== null) {
    if (ifExists === 'version') {
      const facts = { ifMatch, message, author, source };
      return { kind: 'version', change: { datasetId: existing, mode: 'replace', ...facts } };
    }
    if (ifExists === 'error') throw datasetExists(existing);
    if (ifExists === undefined) {
      throw new StoreError('handle_taken', `Another dataset has the handle "${handle}".`);
    }
  }
  const kept = ifExists === 'version' || ifExists === undefined ? null : ifExists;
  return { kind: 'dataset', handle, ifExists: kept, message, author };
}

async function findByHandle(
  datasets: Pick<Store['datasets'], 'resolve'>,
  handle: string,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    return (await datasets.resolve(handle, undefined, signal)).id;
  } catch (error) {
    if (error instanceof StoreError && error.code === 'dataset_not_found') return null;
    throw error;
  }
}
