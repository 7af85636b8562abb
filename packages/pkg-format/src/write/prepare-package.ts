import { createSha256 } from '@svc/jsonl-v23/internal';
import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import { PackageError, quote } from '../errors.ts';
import { toHex } from '../hex.ts';
import { RESULTS_FILE } from '../package/layout.ts';
import { createRedactor } from '../secrets/redactor.ts';
import { sanitiseRunConfig } from '../secrets/sanitise-run-config.ts';
import { type EmbeddedFile, embeddedFileAt } from './embedded-files.ts';
import type { ExportDataset, ExportResult, ExportRun, WriteOptions } from './export-dataset.ts';
import { interruptible } from './interruptible.ts';
import { linesToBytes } from './lines-to-bytes.ts';
import {
  type PackageContent,
  type PlannedEntry,
  planPackage,
  type RunContent,
  sectionPaths,
} from './plan-package.ts';
import {
  type DatasetScan,
  exportLines,
  type FileDigest,
  fileKey,
  scanDataset,
  sha256Hex,
} from './scan-dataset.ts';

/** A plan, and where the bytes of its entries come from. */
export interface PackagePlan {
  entries: readonly PlannedEntry[];
  /** The bytes of one entry; what is not what the manifest states of it is an error at its end. */
  bytesOf(entry: PlannedEntry): AsyncIterable<Uint8Array>;
}

/** Joins a plan with the sources of the files that it names by their paths. */
export function packagePlan(
  entries: readonly PlannedEntry[],
  sources: ReadonlyMap<string, () => AsyncIterable<Uint8Array>>,
): PackagePlan {
  return {
    entries,
    bytesOf({ path, content }) {
      if ('text' in content) return oneChunk(new TextEncoder().encode(content.text));
      const bytes = sources.get(path)!();
      return content.facts ? unchanged(path, content.facts, bytes) : bytes;
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
] as const satisfies (keyof ExportResult)[];

/** Reads what has to be known of a dataset and run, and plans their package. */
export async function preparePackage(dataset: ExportDataset, options: WriteOptions): Promise<PackagePlan> {
  const { run = null, secrets = [], signal } = options;
  const facts = await scanDataset(dataset, signal);
  const results = run && (await surveyResults(run, secrets, signal));
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
      file: facts.sections[index]!,
    })),
    files: facts.files,
    run: run && results && runContent(run, results, secrets),
  };

  const sources = new Map<string, () => AsyncIterable<Uint8Array>>();
  if (run) sources.set(RESULTS_FILE, () => linesToBytes(resultLines(run, secrets, signal)));
  for (const [index, path] of sectionPaths(sections.map(({ name }) => name)).entries()) {
    sources.set(path, () => sectionBytes(dataset, index, facts, signal));
  }
  for (const file of facts.files) sources.set(file.path, () => fileBytes(dataset, file, signal));
  return packagePlan(planPackage(content), sources);
}

interface ResultsFacts extends FileDigest {
  count: number;
}

function runContent(run: ExportRun, results: ResultsFacts, secrets: readonly string[]): RunContent {
  const redact = createRedactor(secrets);
  const { id, status, startedAt, finishedAt, counts, scores, config } = run;
  return {
    config: `${canonicalJson(sanitiseRunConfig(config, secrets))}\n`,
    results,
    manifest: redact({ id, status, started_at: startedAt, finished_at: finishedAt, results: results.count }),
    meta: redact({ counts, scores }),
  };
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function sectionBytes(
  dataset: ExportDataset,
  section: number,
  { paths }: DatasetScan,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const pathFor = ({ folder, bytes }: EmbeddedFile): string => {
    const path = paths.get(fileKey(folder, sha256Hex(bytes)));
    if (path === undefined) throw changed(dataset.sections[section]!.name);
    return path;
  };
  return linesToBytes(exportLines(dataset.sections[section]!, pathFor, signal));
}

async function* fileBytes(
  dataset: ExportDataset,
  file: DatasetScan['files'][number],
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const parts = await dataset.sections[file.section]!.itemAt(file.orderIndex, signal);
  const bytes = embeddedFileAt(parts, file.pointer);
  if (bytes === null) throw changed(file.path);
  yield* interruptible(piecesOf(bytes));
}

const PIECE_BYTES = 64 * 1024;

function* piecesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

async function surveyResults(
  run: ExportRun,
  secrets: readonly string[],
  signal?: AbortSignal,
): Promise<ResultsFacts> {
  const hash = createSha256();
  const facts = { bytes: 0, count: 0 };
  async function* counted(): AsyncGenerator<string[]> {
    for await (const lines of resultLines(run, secrets, signal)) {
      facts.count += lines.length;
      yield lines;
    }
  }
  for await (const chunk of linesToBytes(counted())) {
    hash.update(chunk);
    facts.bytes += chunk.byteLength;
  }
  return { ...facts, sha256: toHex(hash.digest()) };
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

/** The manifest is written first, so what follows must be what it states; anything else would be a broken package. */
async function* unchanged(
  path: string,
  facts: FileDigest,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const hash = createSha256();
  let bytes = 0;
  for await (const chunk of chunks) {
    hash.update(chunk);
    bytes += chunk.byteLength;
    yield chunk;
  }
  if (bytes !== facts.bytes || toHex(hash.digest()) !== facts.sha256) throw changed(path);
}

function changed(what: string): PackageError {
  return new PackageError(
    'package_hash_mismatch',
    `${quote(what)} is not what it was when the package was begun`,
    {
      entry: what,
    },
  );
}
