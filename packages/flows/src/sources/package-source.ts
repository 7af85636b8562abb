import { splitLines } from '@svc/jsonl-v23/internal';
import { canonicalJson, getMember, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { PACKAGE_FORMAT, PackageError, type PackageReader } from '@svc/pkg-format';
import { toPackageError } from '@svc/pkg-format/internal';
import type { DatasetDraft } from '@svc/store';
import { ImportErrors } from '../import-errors.ts';
import type { UploadRequest } from '../requests.ts';
import { type ResultReader, readResults } from '../results/result-reader.ts';
import { packageProvenance } from './provenance.ts';

export interface UploadOptions {
  readonly maxLineBytes: number;
  readonly maxDepth: number;
  readonly signal: AbortSignal;
  /** Reads the results of a run that the package holds. */
  readonly results: ResultReader;
}

/** The longest name of a dataset, in characters. */
const MAX_NAME_LENGTH = 255;

/**
 * Imports a package archive into a draft: archive → sections in order → lines → items with their files → rows, in one
 * pass; then the run that it holds. Memory is bounded by a few batches of lines and one item with its files. The caller
 * closes the package and commits the draft.
 *
 * @throws PackageError with the entry and the line, `package_invalid_json` for the name in the manifest; ImportErrors if
 *   several lines are faulty; what the draft throws
 */
export async function uploadPackage(
  pkg: PackageReader,
  draft: DatasetDraft,
  request: UploadRequest,
  limits: UploadOptions,
): Promise<void> {
  const { maxLineBytes, maxDepth, signal, results } = limits;
  const datasetName = request.name ?? packageName(pkg.manifest, request.fileName);
  for (const section of pkg.sections) {
    const { name, file } = section;
    const lines = splitLines(section.bytes({ signal, isTransient: true }), { file, maxLineBytes, signal });
    try {
      await draft.section(name).writeLines(lines, { file, maxDepth, maxLineBytes, readFile: pkg.readFile });
    } catch (error) {
      const explained = await pkg.explain(error, file, { signal });
      throw isLineError(explained) ? await findOtherErrors(explained, pkg, draft, limits) : explained;
    }
  }
  const run = await pkg.readRun({ signal });
  await draft.insert({
    name: datasetName,
    description: request.description ?? textOf(memberOf(pkg.meta, 'description')),
    notes: textOf(memberOf(pkg.meta, 'notes')),
    source: 'pkg_zip',
    schema: canonicalJson(packageProvenance(pkg.manifest, pkg.meta)),
  });
  if (run !== null) {
    await draft.insertRun(run, readResults(run, results, draft.hashes.sections, signal));
  }
  await pkg.verify(draft.hashes, { signal });
}

const isName = (value: JsonValue | undefined): value is string =>
  typeof value === 'string' &&
  value.trim() !== '' &&
  [...value].length <= MAX_NAME_LENGTH &&
  !/\p{Cc}/u.test(value);

function isLineError(error: unknown): error is PackageError {
  return error instanceof PackageError && error.code === 'package_invalid_line';
}

/**
 * Checks every line of a package of which one is faulty, so that a person can correct all of them at once. Only a faulty
 * package is read twice.
 *
 * @returns the errors of all faulty lines; `first` if it is the only one
 * @throws the signal's reason
 */
async function findOtherErrors(
  first: PackageError,
  pkg: PackageReader,
  draft: DatasetDraft,
  { maxLineBytes, maxDepth, signal }: UploadOptions,
): Promise<PackageError | ImportErrors> {
  for (const section of pkg.sections) {
    const { file } = section;
    const lines = splitLines(section.bytes({ signal, isTransient: true }), { file, maxLineBytes, signal });
    try {
      await draft.checkLines(lines, { file, maxDepth, maxLineBytes });
    } catch {
      signal.throwIfAborted();
      // The rest of this section cannot be read.
    }
  }
  const { failures } = draft;
  if (failures.total <= 1) return first;
  const errors = failures.first.map((error) => toPackageError(error, '') as PackageError);
  return new ImportErrors(first, errors, failures.total);
}

const memberOf = (object: JsonObject | null, key: string): JsonValue | undefined =>
  object === null ? undefined : getMember(object, key);

const textOf = (value: JsonValue | undefined): string | null => (typeof value === 'string' ? value : null);

/**
 * The manifest's name, else the file's name without its extension and control characters, cut to the longest name.
 *
 * @throws PackageError `package_invalid_json` for an unusable name in a manifest of this format
 */
function packageName(manifest: JsonObject | null, fileName: string): string {
  const own = memberOf(manifest, 'name');
  if (isName(own)) return own;
  if (own !== undefined && memberOf(manifest, 'format') === PACKAGE_FORMAT) {
    const message = `The name in the manifest must have 1 to ${MAX_NAME_LENGTH} characters, not all of them blank, and no control characters.`;
    const location = { file: 'manifest.json', path: '/name' };
    throw new PackageError('package_invalid_json', message, { entry: 'manifest.json', location });
  }
  return nameOfFile(fileName);
}

/** The name of a dataset whose archive has none. @param fileName as the client gave it */
export function nameOfFile(fileName: string): string {
  const base = (fileName.split(/[/\\]/).at(-1) ?? '').replaceAll(/\p{Cc}/gu, '');
  const bare = base.replace(/(\.pkg)?\.zip$/i, '') || base;
  return bare.trim() === '' ? 'package' : [...bare].slice(0, MAX_NAME_LENGTH).join('');
}
