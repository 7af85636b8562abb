import { withoutCredentials } from '@svc/hub-client';
import { canonicalJson, getMember, isJsonObject, type JsonObject, parseJson } from '@svc/jsonl-v23/json';
import { type Mapping, readMapping } from '@svc/jsonl-v23/mapping';
import { type ImportTarget, StoreError } from '../store/index.ts';
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
 * Writes a request for a job to keep, without its token. The store reads `name`, `config`, `files` and `file_name` of it, and
 * `handle` and `dataset_id` of its `target`.
 */
export function encodeRequest(request: ImportJobRequest | UploadJobRequest): string {
  const { mapping: _, mappingAsSent, target, ...others } = request;
  return JSON.stringify({
    ...('content' in others ? withFiles(others) : { ...others, token: undefined }),
    mapping: mappingAsSent && canonicalJson(mappingAsSent),
    target: target.kind === 'version' ? { ...target, dataset_id: target.change.datasetId } : target,
  });
}

function withFiles<T extends Pick<UploadJobRequest, 'content'>>({ content, ...request }: T): object {
  if (content.kind === 'files') return { ...request, ...content };
  const { fileName, ...facts } = content;
  return { ...request, ...facts, file_name: fileName };
}

export const decodeImportRequest = (text: string): ImportJobRequest => decodeRequest(text);

export function decodeUploadRequest(text: string): UploadJobRequest {
  const { kind, files, sentBytes, skipped, file_name: fileName, sha256, ...request } = decodeRequest(text);
  const content = kind === 'files' ? { kind, files, sentBytes, skipped } : { kind, fileName, sha256 };
  return { ...request, content };
}

// biome-ignore lint/suspicious/noExplicitAny: the members are those that were written
function decodeRequest(text: string): any {
  const { mapping: sent, ...request } = JSON.parse(text);
  if (request.target === undefined) throw new StoreError('corrupt', 'The request of the job has no target.');
  const { dataset_id: _, ...target } = request.target;
  const mappingAsSent = sent === null ? null : (parseJson(sent) as JsonObject);
  return { ...request, target, mappingAsSent, mapping: mappingAsSent && readMapping(mappingAsSent) };
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
