import {
  decodeUploadRequest,
  type FileRequest,
  partOf,
  type ResultReader,
  recogniseUpload,
  type UploadedFile,
  uploadPackage,
  uploadTable,
} from '@svc/flows';
import { type ByteSource, openPackage } from '@svc/pkg-format';
import { type Config, packageLimits } from '@svc/runtime';
import type { DatasetDraft } from '@svc/store';
import { archiveSource } from '../archive-source.ts';
import type { TaskHandler } from '../queue/task.ts';
import { createJobTask, type JobImport, type JobTaskDeps } from './job.ts';

export interface UploadTaskDeps extends JobTaskDeps {
  readonly config: Config;
  /** Reads the results of runs in packages. */
  readonly results: ResultReader;
}

/** The task `upload`: imports an archive that was uploaded with `respond-async` and is stored in the database. */
export function createUploadTask(deps: UploadTaskDeps): TaskHandler {
  const { config, store, results } = deps;
  const { maxLineBytes, maxJsonDepth: maxDepth } = config;
  return createJobTask(deps, ({ job, request }): JobImport => {
    const wanted = decodeUploadRequest(request);
    const archive = archiveSource(store.jobs, { jobId: job.id, ...wanted });
    return {
      archive,
      secrets: [],
      start: { source: wanted.tables === null ? 'pkg_zip' : 'file', bytes: wanted.archiveBytes },
      async write(draft, signal) {
        if (wanted.tables !== null) {
          await writeTables({ ...wanted, ...wanted.tables }, archive, draft, config, signal);
          return;
        }
        await using pkg = await openPackage(archive, { limits: packageLimits(config) });
        await uploadPackage(pkg, draft, wanted, { maxLineBytes, maxDepth, signal, results });
      },
    };
  });
}

/** Imports files with tables or items, which follow each other in the archive of the job. */
async function writeTables(
  request: FileRequest,
  archive: ByteSource,
  draft: DatasetDraft,
  config: Config,
  signal: AbortSignal,
): Promise<void> {
  const files: UploadedFile[] = [];
  let start = 0;
  for (const { name, bytes } of request.files) {
    files.push({ name, source: partOf(archive, start, bytes) });
    start += bytes;
  }
  const recognised = await recogniseUpload(files, request, packageLimits(config), signal);
  if (!('files' in recognised)) throw new Error(`The files of the job are a ${recognised.kind}.`);
  const { maxLineBytes: maxItemBytes, maxJsonDepth: maxDepth } = config;
  await uploadTable(recognised.files, draft, request, { maxItemBytes, maxDepth, signal });
}
