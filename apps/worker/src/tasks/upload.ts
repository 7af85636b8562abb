import { decodeUploadRequest, uploadPackage } from '@svc/flows';
import { openPackage } from '@svc/pkg-format';
import { type Config, packageLimits } from '@svc/runtime';
import { archiveSource } from '../archive-source.ts';
import type { TaskHandler } from '../queue/task.ts';
import { createJobTask, type JobImport, type JobTaskDeps } from './job.ts';

export interface UploadTaskDeps extends JobTaskDeps {
  readonly config: Config;
}

/** The task `upload`: imports an archive that was uploaded with `respond-async` and is stored in the database. */
export function createUploadTask(deps: UploadTaskDeps): TaskHandler {
  const { config, store } = deps;
  const { maxLineBytes, maxJsonDepth: maxDepth } = config;
  return createJobTask(deps, ({ job, request }): JobImport => {
    const wanted = decodeUploadRequest(request);
    const archive = archiveSource(store.jobs, { jobId: job.id, ...wanted });
    return {
      archive,
      secrets: [],
      start: { source: 'pkg_zip', bytes: wanted.archiveBytes },
      async write(draft, signal) {
        await using pkg = await openPackage(archive, { limits: packageLimits(config) });
        return await uploadPackage(pkg, draft, wanted, { maxLineBytes, maxDepth, signal });
      },
    };
  });
}
