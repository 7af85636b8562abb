import { dryRun, type ImportSource, importDataset, observeImport, requestFailure } from '@svc/flows';
import type { Logger, Metrics } from '@svc/instrumentation';
import { json, type RouteResponse } from '@svc/runtime';
import { type IdempotencyClaim, ImportReport, type Store, type StoredResponse } from '@svc/store';
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
  const report = new ImportReport();
  await using draft = await store.datasets.begin({ signal, report });
  const observed = observeImport(observers, source.start, draft);
  try {
    const content = await importDataset(source, draft, report, signal);
    const response = claim === undefined ? undefined : { claim, of: datasetCreated };
    const dataset = await draft.commit({ ...content, response });
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
  const report = new ImportReport();
  await using draft = await store.datasets.begin({ signal, report, dryRun: true });
  return json(serializeDryRun(await dryRun(source, draft, report, signal)));
}
