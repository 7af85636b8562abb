import type { DatasetWriter } from '@svc/flows';
import type { DatasetStore, IdempotencyClaim } from '@svc/store';
import { datasetCreated } from './dataset-body.ts';

/** The write side of the store, as an import sees it; the answer to its request is stored with the dataset. */
export function datasetWriter(
  datasets: Pick<DatasetStore, 'saveDataset'>,
  claim: IdempotencyClaim | undefined,
): DatasetWriter {
  const idempotency = claim === undefined ? {} : { idempotency: { claim, answer: datasetCreated } };
  return {
    saveDataset: (rows, finish, options) =>
      datasets.saveDataset(rows, finish, { ...options, ...idempotency }),
  };
}
