import { dryRun, type ImportSource, importDataset, observeImport, requestFailure } from '@svc/flows';
import type { Logger, Metrics } from '@svc/instrumentation';
import { json, type RouteResponse } from '@svc/runtime';
import type { IdempotencyClaim, Store, StoredResponse } from '@svc/store';
import { serializeDryRun } from '../hub/serialize.ts';
import { datasetCreated } from './serialize.ts';

export interface ImportNowDeps {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly store: Pick<Store, 'datasets'>;
}

/** Imports a dataset within its request. @param claim of an idempotent request, which gets the response */
export async function importNow(
  { store, ...observers }: ImportNowDeps,
  source: ImportSource,
  signal: AbortSignal,
  claim: IdempotencyClaim | undefined,
): Promise<StoredResponse> {
  await using draft = await store.datasets.begin({ signal });
  const observed = observeImport(observers, source.start, draft);
  try {
    await importDataset(source, draft, signal);
    if (claim !== undefined) await draft.saveResponse(claim, datasetCreated);
    const dataset = await draft.commit();
    observed.finished(dataset);
    return datasetCreated(dataset);
  } catch (error) {
    observed.failed(error, requestFailure(error, signal));
    throw error;
  }
}

/** Does what an import does, stores nothing, and responds with what it found. */
export async function dryRunNow(
  { store }: Pick<ImportNowDeps, 'store'>,
  source: ImportSource,
  signal: AbortSignal,
): Promise<RouteResponse> {
  await using draft = await store.datasets.begin({ signal, dryRun: true });
  return json(serializeDryRun(await dryRun(source, draft, signal)));
}
