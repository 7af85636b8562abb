import type { HubClient } from '@svc/hub-client';
import { type ByteSource, chunkedSource, openPackage } from '@svc/pkg-format';
import { type Config, packageLimits, type TokenCipher } from '@svc/service';
import {
  decodeImportRequest,
  decodeUploadRequest,
  filesSource,
  hubSource,
  type ImportSource,
  packageSource,
  type TableFile,
  type ThreadReader,
  type UploadJobRequest,
} from '@svc/service/flows';
import { type JobStore, StoreError, type TakenJob } from '@svc/service/store';
import type { TaskHandler } from '../queue/perform-task.ts';
import { createJobTask, type JobImport, type JobTaskDeps } from './job.ts';

export interface UploadTaskDeps extends JobTaskDeps {
  readonly config: Config;
  readonly reader: ThreadReader;
}

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

function partOf(source: ByteSource, start: number, byteLength: number): ByteSource {
  return {
    byteLength,
    read: (from, to) => source.read(start + from, start + Math.min(to, byteLength)),
  };
}

interface ImportTaskDeps extends JobTaskDeps {
  readonly config: Config;
  readonly hub: Pick<HubClient, 'openDataset'>;
}

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

function decryptToken({ job, sealedToken }: TakenJob, tokenCipher: TokenCipher | null): string | undefined {
  if (sealedToken === null) return undefined;
  const token = tokenCipher?.decrypt(job.id, Buffer.from(sealedToken).toString());
  if (token !== undefined) return token;
  throw new StoreError(
    'invalid_request',
    'Cannot decrypt the hub token: the service restarted, or SVC_JOB_KEY differs between API and worker. Submit the import again.',
  );
}

interface ArchiveFacts {
  readonly jobId: string;
  readonly archiveBytes: number;
  /** Bytes of every chunk but the last. */
  readonly chunkBytes: number;
}

/** Chunks in memory: reading mostly goes forward. */
const HELD_CHUNKS = 4;

/** Random access to an archive that the database stores in chunks, so that a worker needs no disk and little memory for it. */
export function archiveSource(
  jobs: Pick<JobStore, 'readArchiveChunk'>,
  { jobId, archiveBytes, chunkBytes }: ArchiveFacts,
) {
  const seen = new Set<number>();
  let readBytes = 0;
  const fetchChunk = async (index: number): Promise<Uint8Array> => {
    const bytes = await jobs.readArchiveChunk(jobId, index);
    if (bytes === null) throw new StoreError('job_finished', 'The archive of the job has been deleted.');
    if (!seen.has(index)) readBytes += bytes.byteLength;
    seen.add(index);
    return bytes;
  };
  return {
    ...chunkedSource(archiveBytes, { chunkBytes, maxHeld: HELD_CHUNKS }, fetchChunk),
    /** How much of the archive was read at least once: it grows up to `byteLength`. */
    get readBytes(): number {
      return readBytes;
    },
  };
}
