import { createHash, randomUUID } from 'node:crypto';
import {
  encodeUploadRequest,
  type ImportFailure,
  observeImport,
  requestFailure,
  type UploadRequest,
  uploadPackage,
} from '@svc/flows';
import { currentContext, type Logger, type Metrics, runWithContext } from '@svc/observability';
import { openPackageFile } from '@svc/pkg-format/node';
import { type Config, packageLimits, type Route, type Semaphore, watchUploadRate } from '@svc/runtime';
import type { IdempotencyClaim, Store, StoredResponse } from '@svc/store';
import { fileChunks } from '../../http/file-chunks.ts';
import { IDEMPOTENCY_KEY, requestDigest, withIdempotency } from '../../http/idempotency.ts';
import { PREFER, prefersAsync } from '../../http/prefer.ts';
import { receiveUpload, type Upload } from '../../http/receive-upload.ts';
import type { StagingFolder } from '../../http/staging-folder.ts';
import { DATASET_SUMMARY } from '../docs/schemas.ts';
import { JOB, jobAccepted } from '../jobs/serialize.ts';
import { parseName } from './fields.ts';
import { datasetCreated } from './serialize.ts';

export interface UploadDeps {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly store: Pick<Store, 'datasets' | 'jobs' | 'idempotency'>;
  readonly staging: StagingFolder;
  /** Bounds uploads, from their first byte to their end. */
  readonly uploads: Semaphore;
}

/** `POST /datasets/upload`: form → staging file → checked package → stored dataset. */
export function uploadRoute(deps: UploadDeps): Route {
  const { config, store, staging, uploads } = deps;
  return {
    method: 'post',
    path: '/datasets/upload',
    operationId: 'uploadDataset',
    summary: 'Import a package archive',
    tag: 'datasets',
    access: 'editor',
    headers: { 'Idempotency-Key': IDEMPOTENCY_KEY, Prefer: PREFER },
    body: {
      contentType: 'multipart/form-data',
      schema: {
        type: 'object',
        properties: {
          file: { type: 'string', format: 'binary', description: 'a .pkg.zip archive' },
          name: { type: 'string', description: 'else the manifest’s name, else the file name' },
          description: { type: 'string', description: 'else the one in meta.json' },
        },
        required: ['file'],
      },
    },
    produces: 'application/json',
    responses: {
      201: { description: 'the stored dataset', schema: DATASET_SUMMARY },
      202: { description: 'with `respond-async`: the job that imports it', schema: JOB },
    },
    errors: [
      'package_no_sections',
      'package_invalid_json',
      'package_invalid_line',
      'package_not_a_zip',
      'package_unsafe_entry',
      'package_corrupt',
      'package_hash_mismatch',
      'package_missing_file',
      'package_unsupported',
      'package_limit',
      'upload_too_large',
      'unsupported_media_type',
      'idempotency_key_reused',
      'unavailable',
    ],
    handle: async (request) => {
      const { raw, signal } = request;
      // Until a permit is free, the body is paused, and none of its file is on the disk.
      raw.pause();
      using _permit = await uploads.acquire(signal, request.client);
      using arriving = watchUploadRate(raw, config.slowUploadTimeoutMs, signal);
      await using upload = await receiveUpload(
        raw,
        staging,
        config,
        ['name', 'description'],
        arriving.signal,
      );
      const uploadRequest: UploadRequest = {
        name: parseName(upload.fields.get('name')),
        description: upload.fields.get('description'),
        fileName: upload.fileName,
      };
      const isAsync = prefersAsync(request.header('prefer'));
      const digest = async (): Promise<Uint8Array> => {
        const { name, description, fileName } = uploadRequest;
        const facts = [fileName, name ?? null, description ?? null, await fileDigest(upload.path)];
        return requestDigest('POST /datasets/upload', isAsync, ...facts);
      };
      return await withIdempotency(request, store.idempotency, digest, (claim) =>
        isAsync
          ? enqueueUpload(deps, upload, uploadRequest, signal, claim)
          : uploadNow(deps, upload, uploadRequest, signal, claim),
      );
    },
  };
}

/** Imports an upload within its request: staging file → checked package → stored dataset. */
async function uploadNow(
  deps: UploadDeps,
  upload: Upload,
  uploadRequest: UploadRequest,
  signal: AbortSignal,
  claim: IdempotencyClaim | undefined,
): Promise<StoredResponse> {
  const { config, store } = deps;
  const { maxLineBytes, maxJsonDepth: maxDepth } = config;
  await using draft = await store.datasets.begin({ signal });
  const start = { source: 'pkg_zip', bytes: upload.bytes } as const;
  const failureOf = (error: unknown): ImportFailure => requestFailure(error, signal);
  const dataset = await observeImport(deps, { start, draft, failureOf }, async () => {
    await using pkg = await openPackageFile(upload.path, { limits: packageLimits(config) });
    const inserted = await uploadPackage(pkg, draft, uploadRequest, { maxLineBytes, maxDepth, signal });
    if (claim !== undefined) await draft.saveResponse(claim, datasetCreated(inserted));
    await draft.commit();
    return inserted;
  });
  return datasetCreated(dataset);
}

/** Size of the chunks in which the database stores an archive. */
const CHUNK_BYTES = 1024 * 1024;

/** Makes a job of an upload. Its archive goes into the database, where a worker on any machine finds it. */
async function enqueueUpload(
  { store, logger }: UploadDeps,
  upload: Upload,
  uploadRequest: UploadRequest,
  signal: AbortSignal,
  claim: IdempotencyClaim | undefined,
): Promise<StoredResponse> {
  const id = randomUUID();
  const request = encodeUploadRequest({
    ...uploadRequest,
    archiveBytes: upload.bytes,
    chunkBytes: CHUNK_BYTES,
  });
  const job = await store.jobs.create(
    {
      id,
      kind: 'upload',
      request,
      requestId: currentContext().request_id ?? null,
      bytesTotal: upload.bytes,
      archive: fileChunks(upload.path, CHUNK_BYTES),
    },
    { signal, ...(claim === undefined ? {} : { idempotency: { claim, response: jobAccepted } }) },
  );
  runWithContext({ job_id: id }, () => logger.log('job.enqueue', { kind: 'upload' }));
  return jobAccepted(job);
}

async function fileDigest(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of fileChunks(path, CHUNK_BYTES)) hash.update(chunk);
  return hash.digest('hex');
}
