import { splitLines } from '@svc/jsonl-v23/internal';
import { canonicalJson, getMember, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import type { PackageReader } from '@svc/pkg-format';
import type { DatasetDraft, DatasetSummary } from '@svc/store';
import { packageProvenance } from './provenance.ts';
import type { UploadRequest } from './requests.ts';

export interface UploadOptions {
  readonly maxLineBytes: number;
  readonly maxDepth: number;
  readonly signal: AbortSignal;
}

/** The longest name of a dataset, in characters. */
const MAX_NAME_LENGTH = 255;

/**
 * Imports a package archive into a draft: archive → sections in order → lines → items with their files → rows, in one
 * pass. Memory is bounded by a few batches of lines and one item with its files. The caller closes the package and
 * commits the draft.
 *
 * @throws PackageError with the entry and the line; what the draft throws
 */
export async function uploadPackage(
  pkg: PackageReader,
  draft: DatasetDraft,
  request: UploadRequest,
  { maxLineBytes, maxDepth, signal }: UploadOptions,
): Promise<DatasetSummary> {
  for (const section of pkg.sections) {
    const { name, file } = section;
    const lines = splitLines(section.bytes(signal), { file, maxLineBytes, signal });
    try {
      await draft.section(name).writeLines(lines, { file, maxDepth, maxLineBytes, readFile: pkg.readFile });
    } catch (error) {
      throw await pkg.explain(error, file, signal);
    }
  }
  await pkg.verify(draft.hashes, signal);
  return await draft.insert({
    name: request.name ?? packageName(pkg.manifest, request.fileName),
    description: request.description ?? textOf(memberOf(pkg.meta, 'description')),
    notes: textOf(memberOf(pkg.meta, 'notes')),
    source: 'pkg_zip',
    schema: canonicalJson(packageProvenance(pkg.manifest, pkg.meta)),
  });
}

const memberOf = (object: JsonObject | null, key: string): JsonValue | undefined =>
  object === null ? undefined : getMember(object, key);

const textOf = (value: JsonValue | undefined): string | null => (typeof value === 'string' ? value : null);

/** The manifest's name, else the file's name without its extension, cut to the longest name. */
function packageName(manifest: JsonObject | null, fileName: string): string {
  const own = memberOf(manifest, 'name');
  if (typeof own === 'string' && own.trim() !== '' && own.length <= MAX_NAME_LENGTH) return own;
  const base = fileName.split(/[/\\]/).at(-1) ?? '';
  const bare = base.replace(/(\.pkg)?\.zip$/i, '') || base;
  return bare.trim() === '' ? 'package' : [...bare].slice(0, MAX_NAME_LENGTH).join('');
}
