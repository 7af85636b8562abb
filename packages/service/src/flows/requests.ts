import { withoutCredentials } from '@svc/hub-client';
import { canonicalJson, getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { type Mapping, readMapping } from '@svc/jsonl-v23/mapping';
import {
  type DatasetChange,
  type ImportTarget,
  type NewDatasetTarget,
  readStoredJson,
  StoreError,
} from '@svc/store';
import type { DetectedFile } from '@svc/tabular';
import { type SkippedFiles, skippedFilesJson } from '@svc/tabular/internal';
import type { TableFile, UploadedTables } from './sources/uploaded-file.ts';

/** An import from the hub, as it was requested. */
export interface ImportRequest {
  readonly name: string;
  readonly description: string | null;
  /** As it was sent, without tokens. */
  readonly config: {
    readonly path: string;
    readonly split: string | undefined;
    readonly subset: string | undefined;
    /** All subsets, each as a section, or in one section with its name as a tag. */
    readonly subsets?: 'sections' | 'tags' | undefined;
    readonly revision: string | undefined;
  };
  readonly token: string | undefined;
  readonly mapping: Mapping;
  /** The mapping as it was sent, for the record. */
  readonly mappingAsSent: JsonObject;
}

/** An upload, as it was requested. */
export interface UploadRequest {
  /** By default, from the package. */
  readonly name: string | undefined;
  /** By default, from the package. */
  readonly description: string | undefined;
  /** The archive's own file name, the last source of a name. */
  readonly fileName: string;
}

/** An upload of files with tables or items, as it was requested. */
export interface FileRequest {
  /** By default, from the first file. */
  readonly name: string | undefined;
  readonly description: string | undefined;
  /** Null for items. */
  readonly mapping: Mapping | null;
  /** The mapping as it was sent, for the record; null for items. */
  readonly mappingAsSent: JsonObject | null;
  /** Whether the lines were the body itself: there is no file to name. */
  readonly isPlainBody?: true | undefined;
  /** Origins of this service: links of items to its stored files become these files. */
  readonly origins: readonly string[];
}

/** A file of a job: what the API recognised, without its bytes. */
interface JobFile extends Omit<TableFile, 'source'> {
  readonly bytes: number;
}

/** An upload as a job keeps it, with its bytes in chunks; of files, one after another. */
export interface UploadJobRequest extends FileRequest {
  readonly content:
    | {
        readonly kind: 'package';
        readonly fileName: string;
        /** Hex digits; null in jobs of the previous version. */
        readonly sha256: string | null;
      }
    | ({ readonly kind: 'files'; readonly files: readonly JobFile[] } & Omit<UploadedTables, 'files'>);
  readonly archiveBytes: number;
  /** Bytes of every chunk but the last. */
  readonly chunkBytes: number;
  readonly target: ImportTarget;
}

/** An import from the hub as a job keeps it. */
export interface ImportJobRequest extends ImportRequest {
  readonly target: ImportTarget;
}

/**
 * Reads an import from its request body (http-api section 2); null means absent.
 *
 * @param body that is valid under the schema of the endpoint
 */
export function toImportRequest(body: JsonObject): ImportRequest {
  const mapping = objectOf(body, 'mapping');
  const { token, ...config } = toHubSource(objectOf(body, 'config'));
  return {
    name: String(getMember(body, 'name')),
    description: stringOf(body, 'description') ?? null,
    config,
    token,
    mapping: readMapping(mapping),
    mappingAsSent: mapping,
  };
}

/** Writes a request for a job to keep, without the token. */
export function encodeImportRequest(request: ImportJobRequest): string {
  const { name, description, config, mappingAsSent, target } = request;
  const { path, split, subset, subsets, revision } = config;
  return canonicalJson({
    name,
    description,
    config: {
      path,
      split: split ?? null,
      subset: subset ?? null,
      revision: revision ?? null,
      ...(subsets !== undefined && { subsets }),
    },
    mapping: mappingAsSent,
    target: encodeTarget(target),
  });
}

/** Reads what {@link encodeImportRequest} wrote. @throws StoreError `corrupt` */
export function decodeImportRequest(text: string): ImportJobRequest {
  const request = readObject(text);
  return { ...toImportRequest(request), target: decodeTarget(getMember(request, 'target')) };
}

/** Rows of the hub, and the token to read them with. */
export type HubSource = ImportRequest['config'] & { readonly token: string | undefined };

/** Reads the members of a request body that identify a slice of a hub dataset. */
export function toHubSource(object: JsonObject): HubSource {
  return {
    path: withoutCredentials(String(getMember(object, 'path'))),
    split: stringOf(object, 'split'),
    subset: stringOf(object, 'subset'),
    ...subsetsOf(object),
    revision: stringOf(object, 'revision'),
    token: stringOf(object, 'token'),
  };
}

function subsetsOf(object: JsonObject): Pick<ImportRequest['config'], 'subsets'> {
  const subsets = stringOf(object, 'subsets');
  return subsets === 'sections' || subsets === 'tags' ? { subsets } : {};
}

/** Writes an upload for a job to keep. */
export function encodeUploadRequest(request: UploadJobRequest): string {
  const {
    name,
    description,
    mappingAsSent,
    isPlainBody,
    origins,
    archiveBytes,
    chunkBytes,
    content,
    target,
  } = request;
  return canonicalJson({
    name: name ?? null,
    description: description ?? null,
    mapping: mappingAsSent,
    ...(isPlainBody && { is_plain_body: isPlainBody }),
    origins,
    target: encodeTarget(target),
    archive_bytes: archiveBytes,
    chunk_bytes: chunkBytes,
    ...(content.kind === 'package'
      ? { kind: content.kind, file_name: content.fileName, sha256: content.sha256 }
      : {
          kind: content.kind,
          files: content.files.map(encodeFile),
          sent_bytes: content.sentBytes,
          ...skippedFilesJson(content.skipped),
        }),
  });
}

function encodeFile({ name, bytes, sha256, section, detected }: JobFile): JsonObject {
  const { format, compression = null, options, warnings = [] } = detected;
  return {
    name,
    bytes,
    sha256,
    section,
    format,
    compression,
    options: { ...options },
    warnings: [...warnings],
  };
}

/** Reads what {@link encodeUploadRequest} wrote. @throws StoreError `corrupt` */
export function decodeUploadRequest(text: string): UploadJobRequest {
  const request = readObject(text);
  const mapping = getMember(request, 'mapping') ?? null;
  const files = getMember(request, 'files');
  const archiveBytes = Number(getMember(request, 'archive_bytes'));
  return {
    name: stringOf(request, 'name'),
    description: stringOf(request, 'description'),
    mapping: isJsonObject(mapping) ? readMapping(mapping) : null,
    mappingAsSent: isJsonObject(mapping) ? mapping : null,
    ...(getMember(request, 'is_plain_body') === true && { isPlainBody: true as const }),
    // Jobs of the previous version have none.
    origins: textsOf(request, 'origins'),
    archiveBytes,
    chunkBytes: Number(getMember(request, 'chunk_bytes')),
    target: decodeTarget(getMember(request, 'target')),
    content: Array.isArray(files)
      ? {
          kind: 'files',
          files: files.filter(isJsonObject).map(decodeFile),
          // Jobs of the previous version do not have it.
          sentBytes: Number(getMember(request, 'sent_bytes') ?? archiveBytes),
          skipped: decodeSkipped(request),
        }
      : {
          kind: 'package',
          fileName: stringOf(request, 'file_name') ?? '',
          sha256: stringOf(request, 'sha256') ?? null,
        },
  };
}

function decodeSkipped(request: JsonObject): SkippedFiles {
  const listed = getMember(request, 'skipped_files');
  const first = (Array.isArray(listed) ? listed : []).filter(isJsonObject).map((file) => ({
    name: stringOf(file, 'name') ?? '',
    reason: stringOf(file, 'reason') ?? '',
  }));
  return { first, total: Number(getMember(request, 'skipped_files_total') ?? first.length) };
}

function decodeFile(file: JsonObject): JobFile {
  const { format, compression, options, warnings } = file as Partial<DetectedFile & JsonObject>;
  if (format === undefined) throw new StoreError('corrupt', 'A file of the job must have a format.');
  return {
    name: stringOf(file, 'name') ?? '',
    bytes: Number(getMember(file, 'bytes')),
    sha256: stringOf(file, 'sha256') ?? '',
    section: stringOf(file, 'section') ?? '',
    detected: {
      format,
      compression: compression ?? undefined,
      options: options ?? {},
      warnings: warnings ?? [],
    },
  };
}

function readObject(text: string): JsonObject {
  const request = readStoredJson(text);
  if (isJsonObject(request)) return request;
  throw new StoreError('corrupt', 'The request of the job must be an object.');
}

function stringOf(object: JsonObject, key: string): string | undefined {
  const value = getMember(object, key);
  return typeof value === 'string' ? value : undefined;
}

function textsOf(object: JsonObject, key: string): readonly string[] {
  const value = getMember(object, key);
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

function objectOf(object: JsonObject, key: string): JsonObject {
  const value = getMember(object, key);
  return isJsonObject(value) ? value : {};
}

/** Writes a target for a job to keep. */
function encodeTarget(target: ImportTarget): JsonObject {
  if (target.kind === 'dataset') {
    const { kind, handle, ifExists, message, author } = target;
    return { kind, handle, if_exists: ifExists, message, author };
  }
  const { datasetId, mode, section, ifMatch, source, message, author } = target.change;
  return {
    ...{
      kind: target.kind,
      dataset_id: datasetId,
      mode,
      section: section ?? null,
      if_match: ifMatch ?? null,
    },
    ...{ source: source ?? null, message: message ?? null, author: author ?? null },
  };
}

/** Reads what {@link encodeTarget} wrote; jobs of the previous version have none, and make datasets. */
function decodeTarget(value: JsonValue | undefined): ImportTarget {
  const target = value !== undefined && isJsonObject(value) ? value : {};
  const textOf = (key: string): string | null => {
    const member = getMember(target, key);
    return typeof member === 'string' ? member : null;
  };
  const facts = { message: textOf('message'), author: textOf('author') };
  if (textOf('kind') !== 'version') {
    const ifExists = textOf('if_exists') as NewDatasetTarget['ifExists'];
    return { kind: 'dataset', handle: textOf('handle'), ifExists, ...facts };
  }
  const { mode, source } = target as unknown as Pick<DatasetChange, 'mode' | 'source'>;
  return {
    kind: 'version',
    change: {
      ...{ ...facts, mode, datasetId: textOf('dataset_id') ?? '' },
      section: textOf('section') ?? undefined,
      ifMatch: textOf('if_match') ?? undefined,
      source: source ?? undefined,
    },
  };
}
