import { randomUUID } from 'node:crypto';
import { type Hub, importHub, type RowEncoder, toImportRequest } from '@svc/flows';
import { isJsonObject } from '@svc/jsonl-v23/json';
import type { Config, TokenCipher } from '@svc/runtime';
import { readStoredJson, StoreError, type TakenJob } from '@svc/store';
import type { TaskHandler } from '../queue/task.ts';
import { createJobTask, type JobImport, type JobTaskDeps } from './job.ts';

export interface ImportTaskDeps extends JobTaskDeps {
  readonly config: Config;
  readonly hub: Hub;
  readonly encoder: RowEncoder;
}

/** The task `import`: rows of a hub dataset, as a request with `respond-async` asked for them. */
export function createImportTask(deps: ImportTaskDeps): TaskHandler {
  const { config, hub, encoder, vault } = deps;
  return createJobTask(deps, (taken): JobImport => {
    const request = readStoredJson(taken.request);
    if (!isJsonObject(request)) throw new Error('the request of the job is no object');
    const wanted = { ...toImportRequest(request), token: openToken(taken, vault) };
    const { path, split, subset, revision } = wanted.config;
    return {
      source: null,
      start: { source: 'hub', path, split, subset, revision },
      secrets: wanted.token === undefined ? [] : [wanted.token],
      run: ({ store, signal, onProgress }) =>
        importHub(
          {
            id: randomUUID(),
            ...wanted,
            maxItemBytes: config.maxLineBytes,
            signal,
            onProgress: ({ items, bytes }, itemsTotal) => onProgress({ items, itemsTotal, bytes }),
          },
          { hub, store, encoder, newId: randomUUID },
        ),
    };
  });
}

/** The token that the request brought; undefined where it brought none. */
function openToken({ job, sealedToken }: TakenJob, vault: TokenCipher | null): string | undefined {
  if (sealedToken === null) return undefined;
  const token = vault?.open(job.id, Buffer.from(sealedToken).toString());
  if (token !== undefined) return token;
  throw new StoreError(
    'invalid_request',
    'The hub token that came with the import can be read no more: the service was restarted, or its worker has another SVC_JOB_KEY than its API. Ask for the import again.',
  );
}
