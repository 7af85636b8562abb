import { createHash, randomUUID } from 'node:crypto';
import { type RowEncoder, uploadPackage } from '@svc/flows';
import { canonicalJson } from '@svc/jsonl-v23/json';
import { currentContext, type Logger, type Metrics, runWithContext } from '@svc/observability';
import { openPackageFile } from '@svc/pkg-format/node';
import { type Config, packageLimits, type Route, type Semaphore, watchUploadRate } from '@svc/runtime';
import type { IdempotencyClaim, Store, StoredResponse } from '@svc/store';
import { fileChunks } from '../../http/file-chunks.ts';
import { IDEMPOTENCY_KEY, requestDigest, withIdempotency } from '../../http/idempotency.ts';
import { PREFER, prefersAsync } from '../../http/prefer.ts';
import { receiveUpload, type Upload } from '../../http/receive-upload.ts';
import type { Spool } from '../../http/spool-file.ts';
import { DATASET_SUMMARY } from '../docs/schemas.ts';
import { JOB, jobAccepted } from '../jobs/job-body.ts';
import { datasetCreated } from './dataset-body.ts';
import { parseName } from './dataset-fields.ts';
import { datasetWriter } from './dataset-writer.ts';
import { observeRequestImport } from './observe-request-import.ts';

export interface UploadDeps {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly store: Pick<Store, 'datasets' | 'jobs' | 'idempotency'>;
  readonly encoder: RowEncoder;
  readonly spool: Spool;
  /** imports at once */
  readonly imports: Semaphore;
  /** uploads at once, while they arrive and until they end */
  readonly uploads: Semaphore;
}

/** `POST /datasets/upload`: form → spool file → checked package → stored dataset. */
export function uploadRoute(deps: UploadDeps): Route {
  const { config, store, spool, uploads } = deps;
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
      // Until it is its turn, a client is held back: nothing of its file lies on our disk.
      raw.pause();
      using _permit = await uploads.acquire(signal, request.client);
      using arriving = watchUploadRate(raw, config.slowUploadTimeoutMs, signal);
      await using upload = await receiveUpload(raw, spool, config, ['name', 'description'], arriving.signal);
      const wanted: UploadRequest = {
        upload,
        name: parseName(upload.fields.get('name')),
        description: upload.fields.get('description'),
      };
      const isAsync = prefersAsync(request.header('prefer'));
      const digest = async (): Promise<Uint8Array> => {
        const { name, description } = wanted;
        const facts = [upload.fileName, name ?? null, description ?? null, await fileDigest(upload.path)];
        return requestDigest('POST /datasets/upload', isAsync, ...facts);
      };
      return await withIdempotency(request, store.idempotency, digest, (claim) =>
        isAsync ? enqueueUpload(deps, wanted, signal, claim) : uploadNow(deps, wanted, signal, claim),
      );
    },
  };
}

interface UploadRequest {
  readonly upload: Upload;
  readonly name: string | undefined;
  readonly description: string | undefined;
}

/** The import within the request: spool file → checked package → stored dataset. */
async function uploadNow(
  deps: UploadDeps,
  { upload, name, description }: UploadRequest,
  signal: AbortSignal,
  claim: IdempotencyClaim | undefined,
): Promise<StoredResponse> {
  const { config, store, encoder, imports } = deps;
  using _permit = await imports.acquire(signal);
  const start = { source: 'pkg_zip', bytes: upload.bytes } as const;
  const writer = datasetWriter(store.datasets, claim);
  const dataset = await observeRequestImport(deps, start, signal, (onProgress) =>
    uploadPackage(
      {
        open: () => openPackageFile(upload.path, { limits: packageLimits(config) }),
        id: randomUUID(),
        name,
        description,
        fileName: upload.fileName,
        maxLineBytes: config.maxLineBytes,
        maxDepth: config.maxJsonDepth,
        signal,
        onProgress,
      },
      { store: writer, encoder, newId: randomUUID },
    ),
  );
  return datasetCreated(dataset);
}

/** What the database takes and gives back of an archive at once. */
const CHUNK_BYTES = 1024 * 1024;

/** The import as a job: the archive goes into the database, where any worker finds it, on whatever machine it runs. */
async function enqueueUpload(
  { store, logger }: UploadDeps,
  { upload, name, description }: UploadRequest,
  signal: AbortSignal,
  claim: IdempotencyClaim | undefined,
): Promise<StoredResponse> {
  const id = randomUUID();
  const job = await store.jobs.create(
    {
      id,
      kind: 'upload',
      request: canonicalJson({
        name: name ?? null,
        description: description ?? null,
        file_name: upload.fileName,
        archive_bytes: upload.bytes,
        chunk_bytes: CHUNK_BYTES,
      }),
      requestId: currentContext().request_id ?? null,
      bytesTotal: upload.bytes,
      archive: fileChunks(upload.path, CHUNK_BYTES),
    },
    { signal, ...(claim === undefined ? {} : { idempotency: { claim, answer: jobAccepted } }) },
  );
  runWithContext({ job_id: id }, () => logger.log('job.enqueue', { kind: 'upload' }));
  return jobAccepted(job);
}

async function fileDigest(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of fileChunks(path, CHUNK_BYTES)) hash.update(chunk);
  return hash.digest('hex');
}
