import { type DatasetSummary, type ImportProgress, observeImport } from '@svc/flows';
import type { EventFields, Logger, Metrics } from '@svc/observability';

/** Runs an import within a request and tells of it; one whose request has ended is cancelled. */
export async function observeRequestImport(
  deps: { readonly logger: Logger; readonly metrics: Metrics },
  start: EventFields['dataset.import.start'],
  signal: AbortSignal,
  run: (onProgress: (done: ImportProgress) => void) => Promise<DatasetSummary>,
): Promise<DatasetSummary> {
  return observeImport(deps, start, run, (error) => {
    const { code } = error as { code?: unknown };
    return {
      outcome: signal.aborted ? 'cancelled' : 'failed',
      code: typeof code === 'string' ? code : signal.aborted ? 'aborted' : 'internal',
    };
  });
}
