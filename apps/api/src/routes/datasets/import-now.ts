import {
  dryRun,
  type ImportSource,
  type ImportTarget,
  importDataset,
  observeImport,
  requestFailure,
  type StoredImport,
  storeImport,
} from '@svc/flows';
import type { Logger, Metrics } from '@svc/instrumentation';
import { json, type RouteResponse, toJsonText } from '@svc/runtime';
import { type IdempotencyClaim, ImportReport, type Store, type StoredResponse } from '@svc/store';
import { serializeDryRun } from '../hub/serialize.ts';
import { datasetChanged } from './change.ts';
import { datasetCreated, serializeSummary } from './serialize.ts';

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
  await using draft = await store.datasets.begin({ signal, report });
  const observed = observeImport(observers, source.start, target, draft);
  try {
    const content = await importDataset(source, draft, report, signal);
    const response = claim === undefined ? undefined : { claim, of: importStored };
    const stored = await storeImport(source, draft, content, target, store.datasets, { response });
    observed.finished(stored);
    return importStored(stored);
  } catch (error) {
    observed.failed(error, requestFailure(error, signal));
    throw error;
  }
}

/** The response to an import: of a change, a new dataset, or one that is used again. */
function importStored({ dataset, changed, isNew, runId }: StoredImport): StoredResponse {
  if (changed !== null) return datasetChanged({ dataset, changed });
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
  // The items of a change are compared with those that are stored, in a transaction that is rolled back.
  await using draft = await store.datasets.begin({ signal, report, dryRun: target.kind === 'dataset' });
  return json(serializeDryRun(await dryRun(source, target, draft, report, signal)));
}
