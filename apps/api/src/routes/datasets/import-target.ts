import { datasetExists, type ImportTarget } from '@svc/flows';
import { invalidRequest, type Schema } from '@svc/runtime';
import { type Store, StoreError } from '@svc/store';
import type { ChangeFacts } from './change.ts';

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
