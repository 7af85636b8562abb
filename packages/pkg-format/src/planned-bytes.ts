import { canonicalJson, type JsonObject } from '@svc/jsonl-v23';
import type { ByteTools } from './byte-tools.ts';
import { type EmbeddedFile, embeddedFileAt } from './embedded-files.ts';
import { PackageError, quote } from './errors.ts';
import type { ExportDataset, ExportResult, ExportRun, WriteOptions } from './export-dataset.ts';
import { toHex } from './hex.ts';
import { linesToBytes } from './lines-to-bytes.ts';
import { type PlannedEntry, planPackage, type ResultsFacts } from './plan-package.ts';
import { createRedactor } from './sanitise-run-config.ts';
import {
  type DatasetFacts,
  exportLines,
  type FileFacts,
  fileKey,
  sha256Hex,
  surveyDataset,
} from './survey-dataset.ts';

/** A plan, and where the bytes of its entries come from. */
export interface PackagePlan {
  entries: readonly PlannedEntry[];
  /** The bytes of one entry; checked against what the manifest states of them. */
  bytesOf(entry: PlannedEntry): AsyncIterable<Uint8Array>;
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
export async function preparePackage(
  dataset: ExportDataset,
  options: WriteOptions,
  tools: ByteTools,
): Promise<PackagePlan> {
  const { run = null, secrets = [], signal } = options;
  const facts = await surveyDataset(dataset, tools, signal);
  const results = run && (await surveyResults(run, secrets, tools, signal));
  const entries = planPackage(dataset, facts, run && results && { run, results }, secrets, tools);
  return {
    entries,
    bytesOf({ path, content }) {
      switch (content.kind) {
        case 'text':
          return oneChunk(new TextEncoder().encode(content.text));
        case 'results':
          return unchanged(path, content.facts, linesToBytes(resultLines(run!, secrets, signal)), tools);
        case 'section':
          return unchanged(
            path,
            content.facts,
            sectionBytes(dataset, content.section, facts, tools, signal),
            tools,
          );
        case 'file':
          return fileBytes(dataset, content.file, tools, signal);
      }
    },
  };
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function sectionBytes(
  dataset: ExportDataset,
  section: number,
  { paths }: DatasetFacts,
  tools: ByteTools,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const pathFor = ({ folder, bytes }: EmbeddedFile): string => {
    const path = paths.get(fileKey(folder, sha256Hex(bytes, tools)));
    if (path === undefined) throw changed(dataset.sections[section]!.name);
    return path;
  };
  return linesToBytes(exportLines(dataset.sections[section]!, tools, pathFor, signal));
}

async function* fileBytes(
  dataset: ExportDataset,
  file: DatasetFacts['files'][number],
  tools: ByteTools,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const parts = await dataset.sections[file.section]!.itemAt(file.orderIndex, signal);
  const bytes = embeddedFileAt(parts, file.pointer, tools);
  if (bytes === null || sha256Hex(bytes, tools) !== file.sha256) throw changed(file.path);
  yield bytes;
}

async function surveyResults(
  run: ExportRun,
  secrets: readonly string[],
  tools: ByteTools,
  signal?: AbortSignal,
): Promise<ResultsFacts> {
  const hash = tools.createSha256();
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
  facts: FileFacts,
  chunks: AsyncIterable<Uint8Array>,
  tools: ByteTools,
): AsyncGenerator<Uint8Array> {
  const hash = tools.createSha256();
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
