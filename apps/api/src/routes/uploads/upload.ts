import { randomUUID } from 'node:crypto';
import {
  type DryRun,
  dryRunPackage,
  dryRunTable,
  encodeUploadRequest,
  type FileRequest,
  type ImportFailure,
  observeImport,
  type ResultReader,
  requestFailure,
  requireMapping,
  uploadPackage,
  uploadTable,
} from '@svc/flows';
import type { Logger, Metrics } from '@svc/instrumentation';
import { currentContext, runWithContext } from '@svc/observability';
import { type Config, json, type Route, type Semaphore, watchUploadRate } from '@svc/runtime';
import type { DatasetDraft, IdempotencyClaim, Store, StoredResponse } from '@svc/store';
import { fileChunks } from '../../http/file-chunks.ts';
import { IDEMPOTENCY_KEY, requestDigest, withIdempotency } from '../../http/idempotency.ts';
import { PREFER, prefersAsync } from '../../http/prefer.ts';
import { receiveUpload, type StagedFile } from '../../http/receive-upload.ts';
import type { StagingFolder } from '../../http/staging-folder.ts';
import { datasetCreated } from '../datasets/serialize.ts';
import { DATASET_SUMMARY } from '../docs/schemas.ts';
import { DRY_RUN } from '../hub/schema.ts';
import { serializeDryRun } from '../hub/serialize.ts';
import { JOB, jobAccepted } from '../jobs/serialize.ts';
import { legacyError, openPreparedPackage, type PreparedUpload, prepareUpload } from './prepare-upload.ts';
import { readUploadForm, UPLOAD_FIELDS, UPLOAD_FORM, type UploadForm } from './upload-form.ts';

export interface UploadDeps {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly store: Pick<Store, 'datasets' | 'jobs' | 'idempotency'>;
  readonly staging: StagingFolder;
  /** Bounds uploads, from their first byte to their end. */
  readonly uploads: Semaphore;
  /** Reads the results of runs in packages. */
  readonly results: ResultReader;
}

/** Error codes of uploads and their previews. */
export const UPLOAD_ERRORS: readonly string[] = [
  'unsupported_file',
  'invalid_row',
  'column_not_found',
  'assets_not_object',
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
  'unavailable',
];

/** `POST /datasets/upload`: form → staging files → checked package, items or tables → stored dataset. */
export function uploadRoute(deps: UploadDeps): Route {
  const { config, store, staging, uploads } = deps;
  return {
    method: 'post',
    path: '/datasets/upload',
    operationId: 'uploadDataset',
    summary: 'Import a package, items, or files with tables',
    tag: 'datasets',
    access: 'editor',
    headers: { 'Idempotency-Key': IDEMPOTENCY_KEY, Prefer: PREFER },
    query: {
      dry_run: { type: 'boolean', default: false, description: 'convert every row and store nothing' },
    },
    body: { contentType: 'multipart/form-data', schema: UPLOAD_FORM },
    produces: 'application/json',
    responses: {
      200: { description: 'the result of a dry run', schema: DRY_RUN },
      201: { description: 'the stored dataset', schema: DATASET_SUMMARY },
      202: { description: 'with `respond-async`: the job that imports it', schema: JOB },
    },
    errors: [...UPLOAD_ERRORS, 'mapping_required', 'idempotency_key_reused'],
    handle: async (request) => {
      const { raw, signal } = request;
      // Until a permit is free, the body is paused, and none of its files is on the disk.
      raw.pause();
      using _permit = await uploads.acquire(signal, request.client);
      using arriving = watchUploadRate(raw, config.slowUploadTimeoutMs, signal);
      await using upload = await receiveUpload(raw, staging, config, UPLOAD_FIELDS, arriving.signal);
      const form = readUploadForm(upload);
      await using prepared = await prepareUpload(upload.files, form, deps, signal);
      await checkKind(prepared, form, signal);
      if (request.query['dry_run'] === true) {
        await using draft = await store.datasets.begin({ signal, dryRun: true });
        return json(serializeDryRun(await dryRunUpload(deps, prepared, form, draft, signal)));
      }
      const isAsync = prefersAsync(request.header('prefer'));
      const digest = (): Uint8Array => {
        const files = upload.files.flatMap(({ fileName, sha256 }) => [fileName, sha256]);
        return requestDigest('POST /datasets/upload', isAsync, form.digest, ...files);
      };
      return await withIdempotency(request, store.idempotency, digest, (claim) =>
        isAsync
          ? enqueueUpload(deps, prepared, form, signal, claim)
          : uploadNow(deps, prepared, form, signal, claim),
      );
    },
  };
}

/** Refuses older archives, and tables without a mapping. */
async function checkKind(
  { recognised }: PreparedUpload,
  { mapping }: UploadForm,
  signal: AbortSignal,
): Promise<void> {
  if (recognised.kind === 'legacy_package') throw legacyError();
  if (recognised.kind === 'table' && mapping === null) await requireMapping(recognised.files, signal);
}

function fileRequest(form: UploadForm, staged: readonly StagedFile[]): FileRequest {
  return { ...form, files: staged.map(({ fileName, bytes, sha256 }) => ({ name: fileName, bytes, sha256 })) };
}

/** Imports an upload within its request. */
async function uploadNow(
  deps: UploadDeps,
  prepared: PreparedUpload,
  form: UploadForm,
  signal: AbortSignal,
  claim: IdempotencyClaim | undefined,
): Promise<StoredResponse> {
  await using draft = await deps.store.datasets.begin({ signal });
  const source = 'files' in prepared.recognised ? 'file' : 'pkg_zip';
  const start = { source, bytes: bytesOf(prepared) } as const;
  const failureOf = (error: unknown): ImportFailure => requestFailure(error, signal);
  const dataset = await observeImport(deps, { start, draft, failureOf }, async () => {
    await insertUpload(deps, prepared, form, draft, signal);
    if (claim !== undefined) await draft.saveResponse(claim, datasetCreated);
    return await draft.commit();
  });
  return datasetCreated(dataset);
}

async function insertUpload(
  { config, results }: UploadDeps,
  prepared: PreparedUpload,
  form: UploadForm,
  draft: DatasetDraft,
  signal: AbortSignal,
): Promise<void> {
  const { recognised, staged } = prepared;
  const { maxLineBytes, maxJsonDepth: maxDepth } = config;
  if ('files' in recognised) {
    const options = { maxItemBytes: maxLineBytes, maxDepth, signal };
    await uploadTable(recognised.files, draft, fileRequest(form, staged), options);
    return;
  }
  const { fileName } = archiveOf(staged);
  await using pkg = await openPreparedPackage(prepared);
  const { name, description } = form;
  const options = { maxLineBytes, maxDepth, signal, results };
  await uploadPackage(pkg, draft, { name, description, fileName }, options);
}

/** Does what an upload does, and stores nothing. */
async function dryRunUpload(
  { config, results }: UploadDeps,
  prepared: PreparedUpload,
  form: UploadForm,
  draft: DatasetDraft,
  signal: AbortSignal,
): Promise<DryRun> {
  const { recognised, staged } = prepared;
  const { maxLineBytes, maxJsonDepth: maxDepth } = config;
  if ('files' in recognised) {
    const options = { maxItemBytes: maxLineBytes, maxDepth, signal };
    return await dryRunTable(recognised.files, draft, fileRequest(form, staged), options);
  }
  await using pkg = await openPreparedPackage(prepared);
  return await dryRunPackage(pkg, draft, { maxLineBytes, maxDepth, signal, results });
}

function archiveOf([archive]: readonly StagedFile[]): StagedFile {
  if (archive === undefined) throw new Error('The upload has no archive.');
  return archive;
}

const bytesOf = ({ staged }: PreparedUpload): number => staged.reduce((sum, { bytes }) => sum + bytes, 0);

/** Size of the chunks in which the database stores an archive. */
const CHUNK_BYTES = 1024 * 1024;

/** Makes a job of an upload. Its files go into the database, one after another, where a worker on any machine finds them. */
async function enqueueUpload(
  { store, logger }: UploadDeps,
  prepared: PreparedUpload,
  form: UploadForm,
  signal: AbortSignal,
  claim: IdempotencyClaim | undefined,
): Promise<StoredResponse> {
  const id = randomUUID();
  const { recognised, staged } = prepared;
  const archiveBytes = bytesOf(prepared);
  const { name, description } = form;
  const request = encodeUploadRequest({
    ...{ name, description, fileName: archiveOf(staged).fileName, archiveBytes, chunkBytes: CHUNK_BYTES },
    tables: 'files' in recognised ? fileRequest(form, staged) : null,
  });
  const job = await store.jobs.create(
    {
      id,
      kind: 'upload',
      request,
      requestId: currentContext().request_id ?? null,
      bytesTotal: archiveBytes,
      archive: fileChunks(staged, CHUNK_BYTES),
    },
    { signal, ...(claim === undefined ? {} : { idempotency: { claim, response: jobAccepted } }) },
  );
  runWithContext({ job_id: id }, () => logger.log('job.enqueue', { kind: 'upload' }));
  return jobAccepted(job);
}
