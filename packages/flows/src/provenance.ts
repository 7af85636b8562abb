import { getMember, isJsonObject, type JsonObject } from '@svc/jsonl-v23/json';
import { PACKAGE_FORMAT } from '@svc/pkg-format';

/**
 * Where an uploaded dataset came from: `{source: "pkg_zip", package: {manifest, meta}}`, the blobs as they were.
 * An export of an uploaded dataset carries that object in its `meta.json`; uploading it again takes the object up
 * as it is, so that a dataset that goes round keeps one provenance instead of wrapping it once more each time,
 * and its exports stay byte-identical (docs/decisions/provenance-of-re-uploads.md).
 */
export function provenanceOf(manifest: JsonObject | null, meta: JsonObject | null): JsonObject {
  const kept = meta === null ? undefined : getMember(meta, 'schema');
  const isOurs = manifest !== null && getMember(manifest, 'format') === PACKAGE_FORMAT;
  if (isOurs && isJsonObject(kept) && getMember(kept, 'source') === 'pkg_zip') return kept;
  return { source: 'pkg_zip', package: { manifest, meta } };
}
