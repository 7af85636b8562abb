import { sha256Hex } from '@svc/jsonl-v23/bytes';
import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import {
  createRunHasher,
  hashedResult,
  namesScorers,
  PACKAGED_RUN_FIELDS,
  PUBLIC_RESULT_FIELDS,
  type RunHasher,
  recordText,
} from '@svc/jsonl-v23/runs';
import { type Redacted, redactValue, spellingsOf } from '@svc/jsonl-v23/secrets';
import { PackageError, quote } from '../errors.ts';
import { BASELINE_RESULTS_FILE, checkNames, RESULTS_FILE } from '../package/layout.ts';
import { sanitiseRunConfig } from '../secrets/sanitise-run-config.ts';
import { type EmbeddedFile, embeddedFileAt } from './embedded-files.ts';
import type {
  ExportDataset,
  ExportResult,
  ExportRun,
  ExportSection,
  LinkedContent,
  WriteOptions,
} from './export-dataset.ts';
import { encodePieces, interruptible, linesToBytes } from './lines-to-bytes.ts';
import {
  type PackageContent,
  type PlannedEntry,
  planPackage,
  type RunContent,
  sectionPaths,
} from './plan-package.ts';
import {
  type DatasetScan,
  DigestMeter,
  digestOf,
  exportLines,
  type FileDigest,
  type Pack,
  type PackageFile,
  type PackedBytes,
  scanDataset,
} from './scan-dataset.ts';

export interface PackagePlan {
  /** Bytes that a reader returns again: the bytes of files, for each reference after the first. */
  readonly repeatedBytes: number;
  /** They can be read several times. */
  readonly entries: Iterable<PlannedEntry>;
  /** Reads the bytes of one entry, or returns them directly if they are in memory. */
  bytesOf(entry: PlannedEntry): Uint8Array | AsyncIterable<Uint8Array>;
  /** The bytes of an entry whose checksum is known, as the archive holds them; null for any other. */
  packedOf(entry: PlannedEntry): PackedBytes | null;
}

interface Sources {
  get(path: string): (() => Uint8Array | AsyncIterable<Uint8Array>) | undefined;
}

/** @param packed files whose checksum is known, deflated ones among them, from which only an archive can be written */
export function packagePlan(
  entries: Iterable<PlannedEntry>,
  sources: Sources,
  repeatedBytes = 0,
  packed: ReadonlyMap<string, PackedBytes> = new Map(),
): PackagePlan {
  return {
    entries,
    repeatedBytes,
    packedOf({ path, compress }) {
      const found = packed.get(path);
      return found?.isDeflated === compress ? found : null;
    },
    bytesOf({ path, content }) {
      if ('text' in content) return new TextEncoder().encode(content.text);
      if ('pieces' in content) return interruptible(encodePieces(content.pieces()));
      const source = sources.get(path);
      if (source === undefined) throw new TypeError(`The file ${path} has no source.`);
      return content.digest ? unchanged(path, content.digest, source()) : source();
    },
  };
}

/** @param pack keeps sections that had to be read for their checksum; without it, they are read again */
export async function preparePackage(
  dataset: ExportDataset,
  options: WriteOptions,
  pack: Pack | null = null,
): Promise<PackagePlan> {
  const { run = null, generator, secrets = [], signal } = options;
  checkNames(dataset);
  const scan = await scanDataset(dataset, pack, signal);
  const config = run && sanitiseRunConfig(run.config, secrets);
  const results = run && (await scanResults(run, config ?? {}, secrets, signal));
  const baseline = run?.baseline ?? null;
  const records = baseline && (await digestOf(linesToBytes(baseline.records(signal))));
  const { name, description, notes, schema, versionHash, sections } = dataset;
  const content: PackageContent = {
    ...{ name, description, notes, schema, versionHash },
    generator,
    sections: sections.map(({ name, itemCount, sectionHash }, index) => ({
      name,
      itemCount,
      sectionHash,
      file: scan.sections[index] as FileDigest,
    })),
    files: scan.files,
    run: run &&
      results && {
        ...runContent(run, config ?? {}, results, secrets),
        baseline: baseline && records && { run: `${canonicalJson(baseline.run)}\n`, results: records },
      },
  };

  const sources = new Map<string, () => AsyncIterable<Uint8Array>>();
  if (run) sources.set(RESULTS_FILE, () => linesToBytes(linesOf(redactedResults(run, secrets, signal))));
  if (baseline) sources.set(BASELINE_RESULTS_FILE, () => linesToBytes(baseline.records(signal)));
  const packed = new Map<string, PackedBytes>();
  const paths = sectionPaths(sections.map(({ name }) => name));
  for (const [index, section] of sections.entries()) {
    const kept = scan.sections[index]?.packed;
    if (kept) packed.set(paths[index] ?? '', kept);
    else sources.set(paths[index] ?? '', () => sectionBytes(section, scan, signal));
  }
  const indexes = new Map(scan.files.map(({ path }, index) => [path, index]));
  return packagePlan(
    planPackage(content),
    {
      get(path) {
        const index = indexes.get(path);
        return index === undefined ? sources.get(path) : () => fileBytes(dataset, scan.files, index, signal);
      },
    },
    scan.repeatedBytes,
    packed,
  );
}

interface ResultsDigest extends FileDigest {
  readonly count: number;
  /** Null for a run that continues, or whose items have no known version. */
  readonly runHash: string | null;
}

function runContent(
  run: ExportRun,
  config: JsonObject,
  results: ResultsDigest,
  secrets: readonly string[],
): RunContent {
  const known = spellingsOf(secrets);
  const { counts, scores, scorers = {}, scoring = null, verdict = null, bar = null } = run;
  const proof: JsonObject = { run_hash: results.runHash };
  const header = Object.fromEntries(
    PACKAGED_RUN_FIELDS.map(({ wire }) => [wire, proof[wire] ?? run[wire as 'status'] ?? null]),
  );
  const isComplete = run.status === null || run.status === 'completed';
  const mark = isComplete ? {} : { incomplete: true };
  return {
    config: `${canonicalJson(config)}\n`,
    bar,
    results,
    manifest: redactValue({ ...header, ...mark, results: results.count }, known).value,
    meta: { counts, scores, scorers, scoring, verdict },
  };
}

function sectionBytes(
  section: ExportSection,
  scan: DatasetScan,
  signal?: AbortSignal,
): AsyncIterable<Uint8Array> {
  if (section.exportFile !== null && section.bytes !== undefined) return section.bytes(signal);
  const pathFor = (file: EmbeddedFile): string => {
    const path = scan.pathOf(file);
    if (path === undefined) throw changed(section.name);
    return path;
  };
  return linesToBytes(exportLines(section, pathFor, signal));
}

function fileBytes(
  dataset: ExportDataset,
  files: readonly PackageFile[],
  index: number,
  signal?: AbortSignal,
): Uint8Array | AsyncIterable<Uint8Array> {
  const file = files[index] as PackageFile;
  if (file.pointer !== null) return embeddedBytes(dataset, file, file.pointer, signal);
  if (dataset.content === undefined) throw new TypeError('The dataset cannot read the content of its files.');
  const following = { [Symbol.iterator]: () => linkedFiles(files, index + 1) };
  return dataset.content(toContent(file), following, signal);
}

function* linkedFiles(files: readonly PackageFile[], start: number): Generator<LinkedContent> {
  for (const file of files.slice(start, start + READ_AHEAD_FILES)) {
    if (file.pointer === null) yield toContent(file);
  }
}

async function* embeddedBytes(
  dataset: ExportDataset,
  file: PackageFile,
  pointer: string,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const parts = await dataset.sections[file.section]?.itemAt(file.orderIndex, signal);
  const bytes = parts === undefined ? null : embeddedFileAt(parts, pointer);
  if (bytes === null) throw changed(file.path);
  yield* interruptible(piecesOf(bytes));
}

/** Files that a store may read together with the requested one. */
const READ_AHEAD_FILES = 512;

const toContent = ({ sha256, bytes }: FileDigest): LinkedContent => ({ sha256, byteLength: bytes });

const PIECE_BYTES = 64 * 1024;

function* piecesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

/** What a run is while it goes on. */
const GOES_ON: readonly unknown[] = ['queued', 'waiting', 'running', 'cancelling'];

async function scanResults(
  run: ExportRun,
  config: JsonObject,
  secrets: readonly string[],
  signal?: AbortSignal,
): Promise<ResultsDigest> {
  const { dataset_version_hash: versionHash, status, bar = null } = run;
  const hasher: RunHasher | null =
    typeof versionHash !== 'string' || GOES_ON.includes(status)
      ? null
      : createRunHasher({ versionHash, config: canonicalJson(config), bar });
  const isNamed = namesScorers(config);
  let count = 0;
  async function* counted(): AsyncGenerator<JsonObject[]> {
    for await (const results of redactedResults(run, secrets, signal)) {
      count += results.length;
      for (const result of results) hasher?.add(recordText(hashedResult(result), isNamed));
      yield results;
    }
  }
  const digest = await digestOf(linesToBytes(linesOf(counted())));
  return { ...digest, count, runHash: hasher?.digest() ?? null };
}

async function* linesOf(batches: AsyncIterable<readonly JsonObject[]>): AsyncGenerator<string[]> {
  for await (const results of batches) yield results.map((result) => canonicalJson(result));
}

async function* redactedResults(
  run: ExportRun,
  secrets: readonly string[],
  signal?: AbortSignal,
): AsyncGenerator<JsonObject[]> {
  const known = spellingsOf(secrets);
  for await (const batch of run.results(signal)) {
    signal?.throwIfAborted();
    yield batch.map((result) => {
      const members: JsonObject = {};
      for (const { wire } of PUBLIC_RESULT_FIELDS) members[wire] = result[wire as keyof ExportResult] ?? null;
      // Packages without labels keep the bytes that they had before there were any.
      if (result.labels !== undefined) members['labels'] = result.labels;
      return countedRedactions(redactValue(members, known));
    });
  }
}

/** A result without known secrets. It also counts the secrets that were replaced before. */
function countedRedactions({ value, count }: Redacted<JsonObject>): JsonObject {
  const before = value['redacted'];
  return count === 0 ? value : { ...value, redacted: (typeof before === 'number' ? before : 0) + count };
}

/** Checks that a file is still what the manifest, which is written first, states. */
function unchanged(
  path: string,
  digest: FileDigest,
  content: Uint8Array | AsyncIterable<Uint8Array>,
): Uint8Array | AsyncIterable<Uint8Array> {
  if (!(content instanceof Uint8Array)) return unchangedPieces(path, digest, content);
  if (content.byteLength !== digest.bytes || sha256Hex(content) !== digest.sha256) throw changed(path);
  return content;
}

async function* unchangedPieces(
  path: string,
  digest: FileDigest,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const meter = new DigestMeter();
  for await (const chunk of chunks) {
    meter.add(chunk);
    if (meter.bytes > digest.bytes) throw changed(path);
    yield chunk;
  }
  const found = meter.end();
  if (found.bytes !== digest.bytes || found.sha256 !== digest.sha256) throw changed(path);
}

function changed(what: string): PackageError {
  const message = `${quote(what)} changed while the package was being written.`;
  return new PackageError('package_hash_mismatch', message, { entry: what });
}
