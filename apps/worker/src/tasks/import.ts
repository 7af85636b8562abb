import { decodeImportRequest, hubSource } from '@svc/flows';
import type { HubClient } from '@svc/hub-client';
import type { Config, TokenCipher } from '@svc/runtime';
import { StoreError, type TakenJob } from '@svc/store';
import type { TaskHandler } from '../queue/task.ts';
import { createJobTask, type JobImport, type JobTaskDeps } from './job.ts';

export interface ImportTaskDeps extends JobTaskDeps {
  readonly config: Config;
  readonly hub: Pick<HubClient, 'openDataset'>;
}

/** The task `import`: imports rows of a hub dataset that were requested with `respond-async`. */
export function createImportTask(deps: ImportTaskDeps): TaskHandler {
  const { config, hub, tokenCipher } = deps;
  return createJobTask(deps, (taken): JobImport => {
    const wanted = { ...decodeImportRequest(taken.request), token: decryptToken(taken, tokenCipher) };
    return {
      archive: null,
      target: wanted.target,
      secrets: wanted.token === undefined ? [] : [wanted.token],
      source: hubSource(hub, wanted, { maxItemBytes: config.maxLineBytes }),
    };
  });
}

/** The token of the request; undefined where it had none. */
function decryptToken({ job, sealedToken }: TakenJob, tokenCipher: TokenCipher | null): string | undefined {
  if (sealedToken === null) return undefined;
  const token = tokenCipher?.decrypt(job.id, Buffer.from(sealedToken).toString());
  if (token !== undefined) return token;
  throw new StoreError(
    'invalid_request',
    'Cannot decrypt the hub token: the service restarted, or SVC_JOB_KEY differs between API and worker. Submit the import again.',
  );
}
