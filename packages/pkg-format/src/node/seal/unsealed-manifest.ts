import { getMember, isJsonObject, type JsonObject } from '@svc/jsonl-v23/json';
import type { ArchiveFiles } from '../../package/layout.ts';
import { isPackageManifest } from '../../package/manifest.ts';

/** What a manifest states about the files next to it. */
const STATED = ['version_hash', 'hash_spec', 'files', 'sections'];

/**
 * A manifest without what an edit makes wrong: hashes, sizes and counts. The names of sections stay, except of those whose
 * file is gone.
 */
export function unsealedManifest(manifest: JsonObject, files: ArchiveFiles): JsonObject {
  const rest: JsonObject = {};
  for (const [key, value] of Object.entries(manifest)) if (!STATED.includes(key)) rest[key] = value;
  if (!isPackageManifest(manifest)) return rest;
  const sections = getMember(manifest, 'sections');
  rest['sections'] = (Array.isArray(sections) ? sections : []).filter(isJsonObject).flatMap((section) => {
    const [name, file] = [getMember(section, 'name'), getMember(section, 'file')];
    return typeof file === 'string' && files.has(file) && typeof name === 'string' ? [{ name, file }] : [];
  });
  const run = getMember(manifest, 'run');
  if (isJsonObject(run)) {
    const { results: _, ...stated } = run;
    rest['run'] = stated;
  }
  return rest;
}
