import { getMember, isJsonObject, type JsonObject } from '@svc/jsonl-v23/json';
import { PACKAGE_FORMAT } from '@svc/pkg-format';

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
