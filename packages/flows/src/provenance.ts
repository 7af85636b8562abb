import type { SplitReader } from '@svc/hub-client';
import type { MappableFeature } from '@svc/jsonl-v23';
import { getMember, isJsonObject, type JsonObject } from '@svc/jsonl-v23/json';
import { PACKAGE_FORMAT } from '@svc/pkg-format';
import type { TableFile } from './files/recognise-upload.ts';
import { withTypes } from './mapping/plan-mapping.ts';
import { type SkippedRows, skippedMember } from './mapping/skipped-rows.ts';
import type { FileRequest, ImportRequest } from './requests.ts';

/**
 * The `schema` of an uploaded dataset: `{source: "pkg_zip", package: {manifest, meta}}`, both as they were. The
 * `meta.json` of an export has that object; uploading the export takes it as it is, so that provenance is not wrapped
 * again each time and exports stay byte-identical (docs/decisions/provenance-of-re-uploads.md).
 */
export function packageProvenance(manifest: JsonObject | null, meta: JsonObject | null): JsonObject {
  const kept = meta === null ? undefined : getMember(meta, 'schema');
  const isOurs = manifest !== null && getMember(manifest, 'format') === PACKAGE_FORMAT;
  if (isOurs && isJsonObject(kept) && getMember(kept, 'source') === 'pkg_zip') return kept;
  return { source: 'pkg_zip', package: { manifest, meta } };
}

/** The `schema` of a hub import (http-api section 2): `path` and `split` as they were sent, and as they were resolved. */
export function hubProvenance(
  request: ImportRequest,
  { reader, resolvedRevision }: { readonly reader: SplitReader; readonly resolvedRevision: string },
  skipped: SkippedRows | null,
): JsonObject {
  const { path, split, revision } = request.config;
  return {
    source: 'hub',
    config: {
      path,
      split: split ?? null,
      subset: reader.subset,
      revision: revision ?? null,
      resolved_revision: resolvedRevision,
      resolved_split: reader.split,
    },
    features: featureMap(withTypes(reader.features, request.mapping)),
    info: reader.info,
    mapping: request.mappingAsSent,
    ...skippedMember(skipped),
  };
}

/** The `schema` of an upload of files with tables or items. */
export function fileProvenance(
  request: FileRequest,
  files: readonly TableFile[],
  features: readonly MappableFeature[],
  skipped: SkippedRows | null,
): JsonObject {
  const facts = new Map(request.files.map((file) => [file.name, file]));
  return {
    source: 'file',
    files: files.map(({ name, source, detected }) => ({
      name,
      format: detected.format,
      bytes: source.byteLength,
      sha256: facts.get(name)?.sha256 ?? null,
    })),
    options: { ...files[0]?.detected.options },
    features: featureMap(features),
    mapping: request.mappingAsSent,
    ...skippedMember(skipped),
  };
}

/** Column → dtype, with its own members even for a column named `__proto__`. */
function featureMap(features: readonly MappableFeature[]): JsonObject {
  return Object.fromEntries(features.map(({ name, dtype }) => [name, dtype]));
}
