import { withoutCredentials } from '@svc/hub-client';
import { canonicalJson, getMember, isJsonObject, type JsonInput, type JsonObject } from '@svc/jsonl-v23/json';
import { type Mapping, readMapping } from '@svc/jsonl-v23/mapping';
import { skippedFilesJson } from '@svc/tabular/datasets';
import { type ImportTarget, readStoredJson, StoreError } from '../store/index.ts';
import type { TableFile, UploadedTables } from './sources/uploaded-file.ts';

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

/** By default, names and descriptions come from the package. */
export interface UploadRequest extends Pick<FileRequest, 'name' | 'description'> {
  /** The archive's own file name, the last source of a name. */
  readonly fileName: string;
}

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

interface JobFile extends Omit<TableFile, 'source'> {
  readonly bytes: number;
}

/** An upload as a job keeps it, with its bytes in chunks; of files, one after another. */
export interface UploadJobRequest extends FileRequest {
  readonly content:
    | {
        readonly kind: 'package';
        readonly fileName: string;
        readonly sha256: string;
      }
    | ({ readonly kind: 'files'; readonly files: readonly JobFile[] } & Omit<UploadedTables, 'files'>);
  readonly archiveBytes: number;
  /** Bytes of every chunk but the last. */
  readonly chunkBytes: number;
  readonly target: ImportTarget;
}

export interface ImportJobRequest extends ImportRequest {
  readonly target: ImportTarget;
}

/** Reads an import from its request body (http-api section 2); null means absent. */
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

/**
 * Writes a request for a job to keep, without its token. Processes of the previous version read it during an upgrade, so its
 * form stays as it was released. The store reads `name`, `config`, `files` and `file_name` of it, and `handle` and
 * `dataset_id` of its `target`.
 */
export function encodeRequest(request: ImportJobRequest | UploadJobRequest): string {
  const { name = null, description = null, mappingAsSent: mapping, target } = request;
  const common = { name, description, mapping, target: encodeTarget(target) };
  if (!('content' in request)) {
    const { path, split = null, subset = null, subsets, revision = null } = request.config;
    const config = { path, split, subset, revision, ...(subsets && { subsets }) };
    return canonicalJson({ ...common, config });
  }
  const { isPlainBody, origins, archiveBytes, chunkBytes, content } = request;
  return canonicalJson({
    ...common,
    ...(isPlainBody && { is_plain_body: isPlainBody }),
    ...{ origins, archive_bytes: archiveBytes, chunk_bytes: chunkBytes, kind: content.kind },
    ...(content.kind === 'package'
      ? { file_name: content.fileName, sha256: content.sha256 }
      : {
          files: content.files.map(({ name, bytes, sha256, section, detected }) => {
            const { format, compression = null, options, warnings = [] } = detected;
            return { name, bytes, sha256, section, format, compression, options, warnings };
          }),
          ...{ sent_bytes: content.sentBytes, ...skippedFilesJson(content.skipped) },
        }),
  });
}

function encodeTarget(target: ImportTarget): JsonInput {
  if (target.kind === 'dataset') {
    const { ifExists, ...others } = target;
    return { ...others, if_exists: ifExists };
  }
  const { datasetId, mode, section = null, ifMatch = null, source = null } = target.change;
  const { message = null, author = null } = target.change;
  const names = { dataset_id: datasetId, if_match: ifMatch };
  return { kind: target.kind, ...names, mode, section, source, message, author };
}

export function decodeImportRequest(text: string): ImportJobRequest {
  const request = readObject(text);
  return { ...toImportRequest(request), target: decodeTarget(request.target) };
}

export function decodeUploadRequest(text: string): UploadJobRequest {
  const kept = readObject(text);
  const { kind, mapping, origins, sha256, skipped_files: first = [] } = kept;
  const { skipped_files_total: total = first.length } = kept;
  return {
    ...{ name: kept.name ?? undefined, description: kept.description ?? undefined, origins },
    ...{ mapping: mapping && readMapping(mapping), mappingAsSent: mapping },
    ...(kept.is_plain_body && { isPlainBody: true }),
    ...{ archiveBytes: kept.archive_bytes, chunkBytes: kept.chunk_bytes, target: decodeTarget(kept.target) },
    content:
      kind === 'package'
        ? { kind, fileName: kept.file_name, sha256 }
        : { kind, files: kept.files.map(decodeFile), sentBytes: kept.sent_bytes, skipped: { first, total } },
  };
}

const decodeFile = ({ format, compression, options, warnings, ...file }: Kept): JobFile => ({
  ...file,
  detected: { format, compression: compression ?? undefined, options, warnings },
});

function decodeTarget({ kind, handle, mode, message, author, ...kept }: Kept): ImportTarget {
  if (kind === 'dataset') return { kind, handle, ifExists: kept.if_exists, message, author };
  const { dataset_id: datasetId, section, if_match: ifMatch, source } = kept;
  const where = { section: section ?? undefined, ifMatch: ifMatch ?? undefined, source: source ?? undefined };
  return { kind, change: { datasetId, mode, ...where, message, author } };
}

// biome-ignore lint/suspicious/noExplicitAny: the members are those that were written
type Kept = any;

/** @throws StoreError `corrupt` */
function readObject(text: string): Kept {
  const request = readStoredJson(text);
  if (isJsonObject(request) && request['target'] !== undefined) return request;
  throw new StoreError('corrupt', 'The request of the job must be an object with a target.');
}

export type HubSource = ImportRequest['config'] & { readonly token: string | undefined };

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

function stringOf(object: JsonObject, key: string): string | undefined {
  const value = getMember(object, key);
  return typeof value === 'string' ? value : undefined;
}

function objectOf(object: JsonObject, key: string): JsonObject {
  const value = getMember(object, key);
  return isJsonObject(value) ? value : {};
}
