import { randomUUID } from 'node:crypto';
import { isDatasetName, JsonlError } from '@svc/jsonl-v23';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import { MAPPING_SCHEMA, readMapping } from '@svc/jsonl-v23/mapping';
import type { ByteSource } from '@svc/pkg-format';
import {
  invalidRequest,
  type JsonBody,
  JsonText,
  json,
  ok,
  type Route,
  type RouteRequest,
  type RouteResponse,
  type Schema,
  shape,
  watchUploadRate,
} from '@svc/service';
import {
  encodeRequest,
  type FileRequest,
  furtherSources,
  type OpenUpload,
  type OpenUploadRequest,
  openUpload,
  previewUpload,
  TOOLS,
  type UploadJobRequest,
  type UploadPreview,
  uploadSource,
} from '@svc/service/flows';
import {
  checkHandle,
  type IdempotencyClaim,
  type ImportTarget,
  type StoredResponse,
} from '@svc/service/store';
import { FILE_FORMATS } from '@svc/tabular';
import { codesOf } from '../../http/problem.ts';
import { receiveUpload, type Upload } from '../../http/receive-upload.ts';
import {
  IDEMPOTENCY_KEY,
  PREFER,
  prefersAsync,
  requestDigest,
  withIdempotency,
} from '../../http/request-headers.ts';
import {
  CHANGE_HEADERS,
  changeFacts,
  DATASET_CHANGE,
  dryRunNow,
  IF_EXISTS,
  type IfExists,
  importNow,
  importOperation,
  importTarget,
  MESSAGE,
  TARGET_ERRORS,
} from '../datasets/change.ts';
import type { RouteDeps } from '../deps.ts';
import { FOUND_DATASET, SKIPPED_FILES, UPLOADED_DATASET } from '../docs/schemas.ts';
import { PREVIEW_ROWS, serializeRows, serializeSkippedFiles } from '../hub/schema.ts';
import { enqueueJob, JOB } from '../jobs.ts';

export const UPLOAD_ERRORS = [
  ...['unsupported_file', 'invalid_row', 'column_not_found', 'assets_not_object'],
  ...codesOf('package_'),
  ...['upload_too_large', 'unsupported_media_type'],
];

export function uploadRoute(deps: RouteDeps): Route {
  return {
    ...DATASET_CHANGE,
    path: '/datasets/upload',
    operationId: 'uploadDataset',
    summary: 'Import a package, items, or files with tables',
    headers: { 'Idempotency-Key': IDEMPOTENCY_KEY, Prefer: PREFER, ...CHANGE_HEADERS },
    query: {
      dry_run: { type: 'boolean', default: false, description: 'convert every row and store nothing' },
      ...IF_EXISTS,
      message: MESSAGE,
    },
    body: { contentType: 'multipart/form-data', schema: UPLOAD_FORM },
    responses: {
      200: {
        description:
          'the existing dataset: with `if_exists=reuse`, or that to which the run of another tool was added',
        schema: FOUND_DATASET,
      },
      201: { description: 'the stored dataset', schema: UPLOADED_DATASET },
      202: { description: 'with `respond-async`: the job that imports it', schema: JOB },
    },
    errors: [...UPLOAD_ERRORS, ...TARGET_ERRORS, 'mapping_required'],
    handle: (request) => {
      const ifExists = request.query['if_exists'] as IfExists | undefined;
      return importUpload(deps, request, {
        names: [...UPLOAD_FIELDS, 'handle', 'message'],
        operation: importOperation('POST /datasets/upload', request),
        receive: receiveUpload,
        targetOf: ({ handle, message }) =>
          importTarget(deps.store.datasets, {
            ...{ handle, ifExists, source: 'upload', signal: request.signal },
            ...changeFacts(request, message),
          }),
      });
    },
  };
}

export interface UploadOperation {
  readonly names: readonly string[];
  /** What the request is to do, besides its form and files, for its digest. */
  readonly operation: string;
  readonly receive: typeof receiveUpload;
  targetOf(form: UploadForm): ImportTarget | Promise<ImportTarget>;
}

export async function importUpload(
  deps: RouteDeps,
  request: RouteRequest,
  { names, operation, receive, targetOf }: UploadOperation,
): Promise<RouteResponse> {
  const { config, store, staging, limits, uploads, reader, converter } = deps;
  const { raw, signal } = request;
  // Until a permit is free, the body is paused, and none of its files is on the disk.
  raw.pause();
  using _permit = await uploads.acquire(signal, { client: request.client });
  using arriving = watchUploadRate(raw, config.slowUploadTimeoutMs, signal);
  await using received = await receive(raw, staging, config, names, arriving.signal);
  const { origins } = request;
  const form = {
    ...{ ...readUploadForm(received), origins },
    ...(received.areItems && { isPlainBody: true as const }),
  };
  await using upload = await openUpload(received.files, form, { staging, limits, converter }, signal);
  const { maxLineBytes, maxJsonDepth: maxDepth } = config;
  const content =
    received.areItems && upload.kind === 'table' ? { ...upload, kind: 'items' as const } : upload;
  const sourceOptions = { maxLineBytes, maxDepth, reader };
  const source = await uploadSource(content, form, sourceOptions, signal);
  const further = furtherSources(content, form, sourceOptions);
  if (request.query['dry_run'] === true) {
    return await dryRunNow(deps, { source, target: await targetOf(form), further }, signal);
  }
  // A job imports one package: several are imported within the request.
  const isAsync = further.length === 0 && prefersAsync(request.header('prefer'));
  const digest = (): Uint8Array => {
    const files = received.files.flatMap(({ fileName, sha256 }) => [fileName, sha256]);
    return requestDigest(operation, isAsync, form.digest, ...files);
  };
  return await withIdempotency(request, store.idempotency, digest, async (claim) => {
    const target = await targetOf(form);
    return isAsync
      ? await enqueueUpload(deps, upload, { ...form, target }, signal, claim)
      : await importNow(deps, { source, target, further }, signal, claim);
  });
}

const CHUNK_BYTES = 1024 * 1024;

/** Makes a job of an upload. Its files go into the database, one after another, where a worker on any machine finds them. */
async function enqueueUpload(
  deps: RouteDeps,
  upload: OpenUpload,
  form: UploadForm & Pick<UploadJobRequest, 'origins' | 'isPlainBody' | 'target'>,
  signal: AbortSignal,
  claim: IdempotencyClaim | undefined,
): Promise<StoredResponse> {
  const { name, description, mapping, mappingAsSent, isPlainBody, origins, target } = form;
  const { sources, content } = jobContent(upload);
  const archiveBytes = sources.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const request = encodeRequest({
    ...{ name, description, mapping, mappingAsSent, isPlainBody, origins, content, target },
    ...{ archiveBytes, chunkBytes: CHUNK_BYTES },
  });
  const job = { id: randomUUID(), kind: 'upload', request, bytesTotal: archiveBytes } as const;
  return await enqueueJob(deps, { ...job, archive: fileChunks(sources, CHUNK_BYTES) }, claim, signal);
}

function jobContent(upload: OpenUpload): {
  readonly content: UploadJobRequest['content'];
  readonly sources: readonly ByteSource[];
} {
  if (upload.kind === 'package') {
    const { name: fileName, source, sha256 } = upload.file;
    return { content: { kind: 'package', fileName, sha256 }, sources: [source] };
  }
  if (upload.kind === 'legacy_package') throw new Error('An older archive has no job.');
  const files = upload.files.map(({ source, ...file }) => ({ ...file, bytes: source.byteLength }));
  const { sentBytes, skipped } = upload;
  const content = { kind: 'files', files, sentBytes, skipped } as const;
  return { content, sources: upload.files.map(({ source }) => source) };
}

/** The bytes of files, one after another, in chunks of exactly `chunkBytes`; the last one may be shorter. */
async function* fileChunks(files: readonly ByteSource[], chunkBytes: number): AsyncGenerator<Uint8Array> {
  let chunk = Buffer.allocUnsafe(chunkBytes);
  let filled = 0;
  for (const file of files) {
    for (let at = 0; at < file.byteLength; ) {
      const piece = await file.read(at, Math.min(file.byteLength, at + chunkBytes - filled));
      if (piece.byteLength === 0) throw new Error('A staged file became shorter.');
      chunk.set(piece, filled);
      at += piece.byteLength;
      filled += piece.byteLength;
      if (filled < chunkBytes) continue;
      yield chunk;
      chunk = Buffer.allocUnsafe(chunkBytes);
      filled = 0;
    }
  }
  if (filled > 0) yield chunk.subarray(0, filled);
}

const LIMIT: Schema = { type: 'integer', minimum: 1, maximum: 100, default: 10 };
const DEFAULT_LIMIT = 10;

export const UPLOAD_PREVIEW: Schema = shape(
  {
    kind: { type: 'string', enum: ['package', 'legacy_package', 'items', 'table', ...TOOLS] },
    format: { type: ['string', 'null'] },
    options: { type: ['object', 'null'], description: 'the detected format of the file' },
    features: { type: 'array', items: shape({ name: { type: 'string' }, dtype: { type: 'string' } }) },
    num_rows: { type: ['integer', 'null'], minimum: 0 },
    info: { type: 'object' },
    ...SKIPPED_FILES,
    ...PREVIEW_ROWS,
  },
  ['items', ...Object.keys(SKIPPED_FILES)],
);

export function uploadPreviewRoute(deps: RouteDeps): Route {
  const { config, staging, limits, uploads, converter } = deps;
  const schema = { ...UPLOAD_FORM, properties: { ...(UPLOAD_FORM['properties'] as object), limit: LIMIT } };
  return {
    ...DATASET_CHANGE,
    path: '/datasets/upload/preview',
    operationId: 'previewUpload',
    summary: 'Preview a package, items, or files with tables; nothing is stored',
    body: { contentType: 'multipart/form-data', schema },
    responses: ok('the preview', UPLOAD_PREVIEW),
    errors: UPLOAD_ERRORS,
    handle: async (request) => {
      const { raw, signal } = request;
      raw.pause();
      using _permit = await uploads.acquire(signal, { client: request.client });
      using arriving = watchUploadRate(raw, config.slowUploadTimeoutMs, signal);
      const fields = [...UPLOAD_FIELDS, 'limit'];
      await using received = await receiveUpload(raw, staging, config, fields, arriving.signal);
      const limit = readLimit(received.fields.get('limit'));
      const form = readUploadForm(received);
      await using upload = await openUpload(received.files, form, { staging, limits, converter }, signal);
      const maxBytes = Math.floor(config.maxPreviewBytes * (1 - HEAD_SHARE));
      return json(serialize(await previewUpload(upload, form.mapping, { limit, maxBytes, signal })));
    },
  };
}

function readLimit(text: string | undefined): number {
  if (text === undefined || text === '') return DEFAULT_LIMIT;
  if (/^(?:[1-9][0-9]?|100)$/.test(text)) return Number(text);
  throw invalidRequest('limit', 'limit must be a number from 1 to 100.');
}

/** What the members of a preview take besides its rows, of many columns. */
const HEAD_SHARE = 0.25;

function serialize(preview: UploadPreview): JsonBody {
  const { kind, format, options, features, numRows, info } = preview;
  return {
    kind,
    format,
    options: options === null ? null : { ...options },
    features: features.map(({ name, dtype }) => ({ name, dtype })),
    num_rows: numRows,
    info: new JsonText(canonicalJson(info)),
    ...serializeSkippedFiles(preview.skipped),
    ...serializeRows(preview),
  };
}

export const UPLOAD_FIELDS = ['name', 'description', 'mapping', 'format', 'options', 'convert'];

const OPTIONS: Schema = {
  type: 'object',
  properties: {
    delimiter: { type: 'string', minLength: 1, maxLength: 1 },
    quote: {
      type: ['string', 'null'],
      minLength: 1,
      maxLength: 1,
      description: 'null: quotes are ordinary characters',
    },
    encoding: { type: 'string', description: 'such as `utf-8`, `utf-16`, `latin-1`, `cp1252`' },
    header: { type: 'boolean', description: 'true if the first row has the column names' },
  },
  additionalProperties: false,
  description: 'overrides the detection',
};

export const UPLOAD_FORM: Schema = {
  type: 'object',
  properties: {
    file: {
      type: 'array',
      items: { type: 'string', format: 'binary' },
      minItems: 1,
      maxItems: 1000,
      description:
        'a package; files with a table (CSV, TSV, JSON Lines, JSON, Parquet, text; also .gz, .zst or in a ZIP archive); JSON Lines of items; or files of other tools: lm-evaluation-harness, Inspect, promptfoo, OpenAI evals and batches',
    },
    name: { type: 'string', description: 'default: the name in the manifest, else the file name' },
    description: { type: 'string', description: 'default: the description in `meta.json`' },
    mapping: { ...MAPPING_SCHEMA, description: 'required for tables' },
    format: { type: 'string', enum: FILE_FORMATS, description: 'overrides the detection' },
    options: OPTIONS,
    convert: { type: 'boolean', description: 'convert an older archive' },
    handle: { type: 'string', description: 'short name that is unique without regard to case' },
    message: MESSAGE,
  },
  required: ['file'],
};

type UploadForm = ReturnType<typeof readUploadForm>;

export function readUploadForm({ fields }: Pick<Upload, 'fields'>) {
  const mapping = readObject(fields, 'mapping');
  const digest = canonicalJson(Object.fromEntries([...fields].sort(([a], [b]) => (a < b ? -1 : 1))));
  return {
    name: readName(fields.get('name')),
    description: readDescription(fields.get('description')),
    mapping: mapping === null ? null : toMapping(mapping),
    mappingAsSent: mapping,
    hints: { ...readOptions(readObject(fields, 'options') ?? {}), ...readFormat(fields.get('format')) },
    convert: readFlag(fields.get('convert')),
    handle: readHandle(fields.get('handle')),
    message: fields.get('message') ?? null,
    digest,
  };
}

/** The same rules as of `NAME` in JSON bodies. */
function readName(name: string | undefined): string | undefined {
  if (name === undefined || isDatasetName(name)) return name;
  throw invalidRequest(
    'name',
    'name must have 1 to 255 characters, not all of them blank, and no control characters.',
  );
}

function readDescription(text: string | undefined): string | undefined {
  if (text === undefined || (text.isWellFormed() && !text.includes('\0'))) return text;
  throw invalidRequest('description', 'description must hold neither NUL nor half of a surrogate pair.');
}

function readHandle(handle: string | undefined): string | null {
  if (handle === undefined || handle === '') return null;
  checkHandle(handle);
  return handle;
}

function readObject(fields: ReadonlyMap<string, string>, name: string): JsonObject | null {
  const text = fields.get(name);
  if (text === undefined || text === '') return null;
  let value: JsonValue;
  try {
    value = parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonlError)) throw error;
    throw invalidRequest(name, `${name} must be JSON: ${error.message}.`, error);
  }
  if (value === null) return null;
  if (!isJsonObject(value)) throw invalidRequest(name, `${name} must be a JSON object.`);
  return value;
}

function toMapping(value: JsonObject): FileRequest['mapping'] {
  try {
    return readMapping(value);
  } catch (error) {
    if (!(error instanceof JsonlError)) throw error;
    const { path = '/mapping' } = error.location;
    throw invalidRequest(path, `${error.message}.`, error);
  }
}

function readFormat(format: string | undefined): Pick<OpenUploadRequest['hints'], 'format'> {
  if (format === undefined || format === '') return {};
  const known = FILE_FORMATS.find((name) => name === format);
  if (known === undefined)
    throw invalidRequest('format', `format must be one of ${FILE_FORMATS.join(', ')}.`);
  return { format: known };
}

function readOptions(options: JsonObject): OpenUploadRequest['hints'] {
  const unknown = Object.keys(options).find((key) => !KNOWN_OPTIONS.includes(key));
  if (unknown !== undefined)
    throw invalidRequest('options', `options must not have the key "${unknown.slice(0, 100)}".`);
  const { delimiter, quote, encoding, header } = options;
  for (const [name, value] of Object.entries({ delimiter, quote })) {
    const isMissing = value === undefined || (value === null && name === 'quote');
    if (!isMissing && !(typeof value === 'string' && /^[\t\x20-\x7e]$/.test(value))) {
      throw invalidRequest('options', `options.${name} must be one ASCII character.`);
    }
  }
  if (encoding !== undefined && typeof encoding !== 'string')
    throw invalidRequest('options', 'options.encoding must be a text.');
  if (header !== undefined && typeof header !== 'boolean')
    throw invalidRequest('options', 'options.header must be true or false.');
  if (delimiter !== undefined && delimiter === quote)
    throw invalidRequest('options', 'options.delimiter and options.quote must differ.');
  return options as OpenUploadRequest['hints'];
}

const KNOWN_OPTIONS = ['delimiter', 'quote', 'encoding', 'header'];

function readFlag(text: string | undefined): boolean {
  if (text === undefined || text === '' || text === 'false') return false;
  if (text === 'true') return true;
  throw invalidRequest('convert', 'convert must be true or false.');
}
