import {
  decodeUploadRequest,
  filesSource,
  type ImportSource,
  packageSource,
  partOf,
  type TableFile,
  type ThreadReader,
  type UploadJobRequest,
} from '@svc/flows';
import { type ByteSource, openPackage } from '@svc/pkg-format';
import { type Config, packageLimits } from '@svc/runtime';
import { archiveSource } from '../archive-source.ts';
import type { TaskHandler } from '../queue/task.ts';
import { createJobTask, type JobImport, type JobTaskDeps } from './job.ts';

export interface UploadTaskDeps extends JobTaskDeps {
  readonly config: Config;
  /** Reads the results of runs in packages. */
  readonly reader: ThreadReader;
}

/** The task `upload`: imports an archive that was uploaded with `respond-async` and is stored in the database. */
export function createUploadTask(deps: UploadTaskDeps): TaskHandler {
  const { store } = deps;
  return createJobTask(deps, ({ job, request }): JobImport => {
    const wanted = decodeUploadRequest(request);
    const archive = archiveSource(store.jobs, { jobId: job.id, ...wanted });
    return { archive, secrets: [], target: wanted.target, source: jobSource(wanted, archive, deps) };
  });
}

function jobSource(
  { content, ...wanted }: UploadJobRequest,
  archive: ByteSource,
  { config, reader }: UploadTaskDeps,
): ImportSource {
  const { maxLineBytes, maxJsonDepth: maxDepth } = config;
  const options = { maxLineBytes, maxDepth, reader };
  if (content.kind === 'files') {
    const files = filesOf(content.files, archive);
    return filesSource({ ...content, files }, wanted, options);
  }
  const open = () => openPackage(archive, { limits: packageLimits(config) });
  const { fileName, sha256 } = content;
  return packageSource({ bytes: archive.byteLength, sha256 }, open, { ...wanted, fileName }, options);
}

/** The files of a job, which follow each other in its archive. */
function filesOf(
  files: Extract<UploadJobRequest['content'], { readonly kind: 'files' }>['files'],
  archive: ByteSource,
): TableFile[] {
  let start = 0;
  return files.map(({ bytes, ...file }) => {
    const source = partOf(archive, start, bytes);
    start += bytes;
    return { ...file, source };
  });
}
