import { LOST_ITEMS } from '@svc/formats';
import { isDatasetName, JsonlError, toDatasetName } from '@svc/jsonl-v23';
import {
  canonicalJson,
  getMember,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '@svc/jsonl-v23/json';
import { splitLines } from '@svc/jsonl-v23/lines';
import {
  PACKAGE_FORMAT,
  PackageError,
  type PackageReader,
  type PackageRun,
  toPackageError,
} from '@svc/pkg-format';
import { isBar, isBarVerdict } from '../../evaluation/index.ts';
import type { DatasetDraft, ImportedResult, ImportReport, ItemFileSource } from '../../store/index.ts';
import type { ImportSource } from '../import-dataset.ts';
import type { UploadRequest } from '../requests.ts';
import { readResults, type ThreadReader } from '../threads/thread-reader.ts';

export interface PackageSourceOptions {
  readonly maxLineBytes: number;
  readonly maxDepth: number;
  readonly reader: ThreadReader;
}

/**
 * A package archive: its sections in order → lines → items with their files; then the run that it holds. Memory is bounded
 * by a few batches of lines and one item with its files. `write` throws PackageError with the entry.
 *
 * @param archive its size, and its hash in hex digits if that is known
 * @param open opens the archive, which counts what it reads: for one import
 */
export function packageSource(
  { bytes, sha256 }: { readonly bytes: number; readonly sha256: string | null },
  open: () => Promise<PackageReader>,
  request: UploadRequest,
  options: PackageSourceOptions,
): ImportSource {
  return {
    start: { source: 'pkg_zip', bytes },
    toError: (fault) => toPackageError(fault, '') as PackageError,
    async write(draft, report, signal) {
      const pkg = await open();
      await writeSections(pkg, draft, report, options, signal);
      const { hashes } = draft;
      const verify = (): Promise<void> => pkg.verify(hashes, { signal });
      async function* results(run: PackageRun): AsyncGenerator<readonly ImportedResult[]> {
        yield* readResults(run, options.reader, hashes.sections, signal);
        await verify();
      }
      const run = report.faults.total > 0 ? null : await pkg.readRun({ signal });
      if (run !== null) checkBar(run);
      if (run === null && report.faults.total === 0) await verify();
      const description = request.description ?? textOf(memberOf(pkg.meta, 'description'));
      const name = request.name ?? nameOf(pkg.manifest) ?? nameOfFile(request.fileName);
      const schema = packageProvenance(pkg.manifest, pkg.meta);
      return {
        dataset: {
          ...{ name, description, source: 'pkg_zip' },
          notes: textOf(memberOf(pkg.meta, 'notes')),
          schema: canonicalJson(schema),
        },
        files: [{ name: request.fileName, format: 'package', bytes, sha256 }],
        run: run === null ? null : { facts: run, results: results(run), joins: joinsBy(schema) },
      };
    },
  };
}

function checkBar({ bar, verdict }: PackageRun): void {
  if ((bar === null || isBar(parseJson(bar))) && (verdict === null || isBarVerdict(verdict))) return;
  const message = 'The bar of the run and the verdict on it must be as the service writes them.';
  throw new PackageError('package_invalid_json', message, { entry: bar === null ? 'meta.json' : 'bar.json' });
}

/** How the run of a package that was made of another tool's files finds its dataset; null for other packages. */
function joinsBy(schema: JsonObject): 'items' | 'ids' | 'ids only' | null {
  const tool = textOf(getMember(schema, 'tool'));
  if (tool !== 'openai-batch') return tool === null ? null : 'items';
  const lost = getMember(schema, 'lost');
  const hasNoItems =
    Array.isArray(lost) && lost.some((one) => isJsonObject(one) && one['what'] === LOST_ITEMS);
  return hasNoItems ? 'ids only' : 'ids';
}

async function writeSections(
  pkg: PackageReader,
  draft: DatasetDraft,
  report: ImportReport,
  { maxLineBytes, maxDepth }: PackageSourceOptions,
  signal: AbortSignal,
): Promise<void> {
  const files: ItemFileSource = {
    problems: async (references) => references.map(({ path }) => pkg.referenceProblem(path)),
    read: ({ path }, location) => pkg.readFile(path, location),
  };
  for (const { name, file, bytes } of pkg.sections) {
    const lines = splitLines(bytes({ signal, isTransient: true }), { file, maxLineBytes, signal });
    const options = { file, maxDepth, maxLineBytes, files };
    try {
      await draft.section(name, { file }).writeLines(lines, options);
    } catch (error) {
      // A line that is too long, after which the section is not read.
      if (!(error instanceof JsonlError && error.code === 'line_too_long')) throw toPackageError(error, file);
      report.faults.addError(error);
    }
  }
}

const memberOf = (object: JsonObject | null, key: string): JsonValue | undefined =>
  object === null ? undefined : getMember(object, key);

const textOf = (value: JsonValue | undefined): string | null => (typeof value === 'string' ? value : null);

/** The name in a manifest, which only manifests of other formats may have in another form. */
function nameOf(manifest: JsonObject | null): string | undefined {
  const name = memberOf(manifest, 'name');
  return isDatasetName(name) ? name : undefined;
}

/** The name of a dataset whose archive has none: the file's name without its extension. */
export function nameOfFile(fileName: string): string {
  const base = fileName.split(/[/\\]/).at(-1) ?? '';
  return toDatasetName(base.replace(/(\.pkg)?\.zip$/i, '') || base, 'package');
}

/**
 * The `schema` of an uploaded dataset: `{source: "pkg_zip", package: {manifest, meta}}`, both as they were. The
 * `meta.json` of an export has that object; uploading the export takes it as it is, so that provenance is not wrapped
 * again each time and exports stay byte-identical (docs/decisions/provenance-of-re-uploads.md).
 */
function packageProvenance(manifest: JsonObject | null, meta: JsonObject | null): JsonObject {
  const kept = meta === null ? undefined : getMember(meta, 'schema');
  const isOurs = manifest !== null && getMember(manifest, 'format') === PACKAGE_FORMAT;
  if (isOurs && isJsonObject(kept) && getMember(kept, 'source') === 'pkg_zip') return kept;
  return { source: 'pkg_zip', package: { manifest, meta } };
}
