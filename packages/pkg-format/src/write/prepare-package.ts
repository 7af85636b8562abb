import { createSha256, type Sha256 } from '@svc/jsonl-v23/internal';
import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import { PackageError, quote } from '../errors.ts';
import { toHex } from '../hex.ts';
import { RESULTS_FILE } from '../package/layout.ts';
import { checkNames } from '../package/manifest.ts';
import { createRedactor } from '../secrets/redactor.ts';
import { sanitiseRunConfig } from '../secrets/sanitise-run-config.ts';
import { type EmbeddedFile, embeddedFileAt, sha256Hex } from './embedded-files.ts';
import type {
  ExportDataset,
  ExportResult,
  ExportRun,
  ExportSection,
  LinkedContent,
  WriteOptions,
} from './export-dataset.ts';
import { interruptible } from './interruptible.ts';
import { linesToBytes } from './lines-to-bytes.ts';
import {
  type PackageContent,
  type PlannedEntry,
  planPackage,
  type RunContent,
  sectionPaths,
} from './plan-package.ts';
import { type DatasetScan, exportLines, type FileDigest, fileKey, scanDataset } from './scan-dataset.ts';

/** The bytes of an entry, deflated already. */
export interface PackedBytes {
  /** Of the bytes before they were deflated. */
  readonly crc32: number;
  readonly bytes: number;
  read(): AsyncIterable<Uint8Array>;
}

/** The entries of a package, and their bytes. */
export interface PackagePlan {
  readonly entries: readonly PlannedEntry[];
  /**
   * Reads the bytes of one entry.
   *
   * @throws PackageError `package_hash_mismatch` at the end if they differ from the manifest
   */
  bytesOf(entry: PlannedEntry): AsyncIterable<Uint8Array>;
  /** The bytes of an entry that was compressed before; null for any other. */
  packedOf(entry: PlannedEntry): PackedBytes | null;
}

/** Joins planned entries with the sources of their files, by path. @param packed files that only an archive can be written from */
export function packagePlan(
  entries: readonly PlannedEntry[],
  sources: ReadonlyMap<string, () => AsyncIterable<Uint8Array>>,
  packed: ReadonlyMap<string, PackedBytes> = new Map(),
): PackagePlan {
  return {
    entries,
    packedOf: ({ path, compress }) => (compress ? (packed.get(path) ?? null) : null),
    bytesOf({ path, content }) {
      if ('text' in content) return oneChunk(new TextEncoder().encode(content.text));
      const source = sources.get(path);
      if (source === undefined) throw new TypeError(`The file ${path} has no source.`);
      return content.digest ? unchanged(path, content.digest, source()) : source();
    },
  };
}

const RESULT_MEMBERS = [
  'section',
  'order_index',
  'item_id',
  'repetition',
  'status',
  'output',
  'score',
  'passed',
  'explanation',
  'error',
  'latency_ms',
  'usage',
  'item_hash',
  'finish_reason',
  'judge_usage',
  'attempts',
  'omitted_assets',
  'truncated',
] as const satisfies (keyof ExportResult)[];

/**
 * Scans a dataset and run, and plans their package.
 *
 * @throws PackageError `package_no_sections`, `package_invalid_json` for a name; errors of the dataset's functions; the
 *   signal's reason
 */
export async function preparePackage(dataset: ExportDataset, options: WriteOptions): Promise<PackagePlan> {
  const { run = null, secrets = [], signal } = options;
  checkNames(
    dataset.name,
    dataset.sections.map((section) => section.name),
  );
  const scan = await scanDataset(dataset, signal);
  const results = run && (await scanResults(run, secrets, signal));
  const { name, description, notes, schema, versionHash, sections } = dataset;
  const content: PackageContent = {
    name,
    description,
    notes,
    schema,
    versionHash,
    sections: sections.map(({ name, itemCount, sectionHash }, index) => ({
      name,
      itemCount,
      sectionHash,
      file: scan.sections[index] as FileDigest,
    })),
    files: scan.files,
    run: run && results && runContent(run, results, secrets),
  };

  const sources = new Map<string, () => AsyncIterable<Uint8Array>>();
  if (run) sources.set(RESULTS_FILE, () => linesToBytes(resultLines(run, secrets, signal)));
  const paths = sectionPaths(sections.map(({ name }) => name));
  for (const [index, section] of sections.entries()) {
    sources.set(paths[index] ?? '', () => sectionBytes(section, scan, signal));
  }
  const linked = scan.files.filter(({ isLinked }) => isLinked).map(toContent);
  let linkedCount = 0;
  for (const file of scan.files) {
    if (file.isLinked) linkedCount += 1;
    const first = linkedCount;
    const following = { [Symbol.iterator]: () => linked.slice(first, first + READ_AHEAD_FILES).values() };
    sources.set(file.path, () => fileBytes(dataset, file, following, signal));
  }
  return packagePlan(planPackage(content), sources);
}

interface ResultsDigest extends FileDigest {
  readonly count: number;
}

function runContent(run: ExportRun, results: ResultsDigest, secrets: readonly string[]): RunContent {
  const redact = createRedactor(secrets);
  const { id, name, status, error, counts, scores, config } = run;
  return {
    config: `${canonicalJson(sanitiseRunConfig(config, secrets))}\n`,
    results,
    manifest: redact({
      id,
      name,
      status,
      error,
      dataset_version_hash: run.datasetVersionHash,
      started_at: run.startedAt,
      finished_at: run.finishedAt,
      results: results.count,
    }),
    meta: redact({ counts, scores }),
  };
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function sectionBytes(
  section: ExportSection,
  { paths }: DatasetScan,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const pathFor = ({ folder, sha256 }: EmbeddedFile): string => {
    const path = paths.get(fileKey(folder, sha256));
    if (path === undefined) throw changed(section.name);
    return path;
  };
  return linesToBytes(exportLines(section, pathFor, signal));
}

function fileBytes(
  dataset: ExportDataset,
  file: DatasetScan['files'][number],
  following: Iterable<LinkedContent>,
  signal?: AbortSignal,
): AsyncIterable<Uint8Array> {
  if (!file.isLinked) return embeddedBytes(dataset, file, signal);
  if (dataset.content === undefined) throw new TypeError('The dataset cannot read the content of its files.');
  return dataset.content(toContent(file), following, signal);
}

async function* embeddedBytes(
  dataset: ExportDataset,
  file: DatasetScan['files'][number],
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const parts = await dataset.sections[file.section]?.itemAt(file.orderIndex, signal);
  const bytes = parts === undefined ? null : embeddedFileAt(parts, file.pointer);
  if (bytes === null) throw changed(file.path);
  yield* interruptible(piecesOf(bytes));
}

/** Files that a store may read together with the one that is asked for. */
const READ_AHEAD_FILES = 512;

const toContent = ({ sha256, bytes }: FileDigest): LinkedContent => ({ sha256, byteLength: bytes });

const PIECE_BYTES = 64 * 1024;
/** A file that is hashed at once, in less than a millisecond. */
const ONE_SHOT_BYTES = 256 * 1024;

function* piecesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

async function scanResults(
  run: ExportRun,
  secrets: readonly string[],
  signal?: AbortSignal,
): Promise<ResultsDigest> {
  const hash = createSha256();
  let bytes = 0;
  let count = 0;
  async function* counted(): AsyncGenerator<string[]> {
    for await (const lines of resultLines(run, secrets, signal)) {
      count += lines.length;
      yield lines;
    }
  }
  for await (const chunk of linesToBytes(counted())) {
    hash.update(chunk);
    bytes += chunk.byteLength;
  }
  return { bytes, count, sha256: toHex(hash.digest()) };
}

async function* resultLines(
  run: ExportRun,
  secrets: readonly string[],
  signal?: AbortSignal,
): AsyncGenerator<string[]> {
  const redact = createRedactor(secrets);
  for await (const batch of run.results(signal)) {
    signal?.throwIfAborted();
    yield batch.map((result) => {
      const members: JsonObject = {};
      for (const member of RESULT_MEMBERS) members[member] = result[member] ?? null;
      return canonicalJson(redact(members));
    });
  }
}

/** Checks that a file is still what the manifest, which is written first, states. */
async function* unchanged(
  path: string,
  digest: FileDigest,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let hash: Sha256 | undefined;
  let bytes = 0;
  for await (const chunk of chunks) {
    if (bytes === 0 && chunk.byteLength === digest.bytes && chunk.byteLength <= ONE_SHOT_BYTES) {
      // A small file is usually one chunk, and an object of the hash would cost as much as the hash.
      if (sha256Hex(chunk) !== digest.sha256) throw changed(path);
      yield chunk;
      return;
    }
    hash ??= createSha256();
    hash.update(chunk);
    bytes += chunk.byteLength;
    yield chunk;
  }
  hash ??= createSha256();
  if (bytes !== digest.bytes || toHex(hash.digest()) !== digest.sha256) throw changed(path);
}

function changed(what: string): PackageError {
  const message = `${quote(what)} changed while the package was being written.`;
  return new PackageError('package_hash_mismatch', message, { entry: what });
}
