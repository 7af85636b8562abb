import { randomUUID } from 'node:crypto';
import { type RowEncoder, uploadPackage } from '@svc/flows';
import { getMember, isJsonObject } from '@svc/jsonl-v23/json';
import { openPackage } from '@svc/pkg-format';
import { type Config, packageLimits } from '@svc/runtime';
import { readStoredJson } from '@svc/store';
import { archiveSource } from '../archive-source.ts';
import type { TaskHandler } from '../queue/task.ts';
import { createJobTask, type JobImport, type JobTaskDeps } from './job.ts';

export interface UploadTaskDeps extends JobTaskDeps {
  readonly config: Config;
  readonly encoder: RowEncoder;
}

/** The task `upload`: an archive that was uploaded with `respond-async` and waits in the database. */
export function createUploadTask(deps: UploadTaskDeps): TaskHandler {
  const {
    config,
    encoder,
    store: { jobs },
  } = deps;
  return createJobTask(deps, ({ job, request }): JobImport => {
    const wanted = toUploadRequest(request);
    const archive = archiveSource(jobs, { jobId: job.id, ...wanted });
    return {
      source: archive,
      secrets: [],
      start: { source: 'pkg_zip', bytes: wanted.archiveBytes },
      run: ({ store, signal, onProgress }) =>
        uploadPackage(
          {
            open: () => openPackage(archive, { limits: packageLimits(config) }),
            id: randomUUID(),
            name: wanted.name,
            description: wanted.description,
            fileName: wanted.fileName,
            maxLineBytes: config.maxLineBytes,
            maxDepth: config.maxJsonDepth,
            signal,
            onProgress: ({ items, bytes }) => onProgress({ items, itemsTotal: null, bytes }),
          },
          { store, encoder, newId: randomUUID },
        ),
    };
  });
}

/** What the API kept of the upload. */
function toUploadRequest(text: string): {
  readonly name: string | undefined;
  readonly description: string | undefined;
  readonly fileName: string;
  readonly archiveBytes: number;
  readonly chunkBytes: number;
} {
  const request = readStoredJson(text);
  if (!isJsonObject(request)) throw new Error('the request of the job is no object');
  const textOf = (key: string): string | undefined => {
    const value = getMember(request, key);
    return typeof value === 'string' ? value : undefined;
  };
  return {
    name: textOf('name'),
    description: textOf('description'),
    fileName: textOf('file_name') ?? '',
    archiveBytes: Number(getMember(request, 'archive_bytes')),
    chunkBytes: Number(getMember(request, 'chunk_bytes')),
  };
}
