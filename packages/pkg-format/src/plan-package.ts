import {
  canonicalJson,
  DEFAULT_MIME_TYPE,
  HASH_SPEC,
  type JsonObject,
  type JsonValue,
  mimeTypeForPath,
} from '@svc/jsonl-v23';
import type { ByteTools } from './byte-tools.ts';
import type { ExportDataset, ExportRun } from './export-dataset.ts';
import { toHex } from './hex.ts';
import { MANIFEST_FILE, META_FILE, RESULTS_FILE, RUN_CONFIG_FILE, SECTIONS_FOLDER } from './layout.ts';
import { GENERATOR, GENERATOR_VERSION, PACKAGE_FORMAT, PACKAGE_FORMAT_VERSION } from './manifest.ts';
import { createRedactor, sanitiseRunConfig } from './sanitise-run-config.ts';
import { sectionFileNames } from './section-file-names.ts';
import { type DatasetFacts, type FileFacts, type PackageFile, sha256Hex } from './survey-dataset.ts';

/** What an entry of a package holds. */
export type PlannedContent =
  | { kind: 'text'; text: string }
  | { kind: 'results'; facts: FileFacts }
  | { kind: 'section'; section: number; facts: FileFacts }
  | { kind: 'file'; file: PackageFile };

export interface PlannedEntry {
  path: string;
  /** Already compressed media are stored as they are. */
  compress: boolean;
  content: PlannedContent;
}

/** A run's results file, and how many results it holds. */
export interface ResultsFacts extends FileFacts {
  count: number;
}

/**
 * Says what a package holds, entry by entry in their order (package-format section 3). Pure: the same dataset and run
 * give the same plan.
 *
 * @param run with what is known of its results file; null leaves it out
 * @param secrets are taken out of everything that comes from the run
 */
export function planPackage(
  dataset: ExportDataset,
  facts: DatasetFacts,
  run: { run: ExportRun; results: ResultsFacts } | null,
  secrets: readonly string[],
  tools: ByteTools,
): PlannedEntry[] {
  const entries: PlannedEntry[] = [textEntry(META_FILE, metaText(dataset, run?.run ?? null, secrets))];
  if (run) {
    entries.push(
      textEntry(RUN_CONFIG_FILE, line(canonicalJson(sanitiseRunConfig(run.run.config, secrets)))),
      { path: RESULTS_FILE, compress: true, content: { kind: 'results', facts: run.results } },
    );
  }
  const fileNames = sectionFileNames(dataset.sections.map(({ name }) => name));
  for (const [section, fileName] of fileNames.entries()) {
    const path = `${SECTIONS_FOLDER}${fileName}`;
    entries.push({
      path,
      compress: true,
      content: { kind: 'section', section, facts: facts.sections[section]! },
    });
  }
  for (const file of facts.files) {
    entries.push({ path: file.path, compress: !isCompressed(file.path), content: { kind: 'file', file } });
  }
  return [textEntry(MANIFEST_FILE, manifestText(dataset, entries, run, secrets, tools)), ...entries];
}

function textEntry(path: string, text: string): PlannedEntry {
  return { path, compress: true, content: { kind: 'text', text } };
}

function line(text: string): string {
  return `${text}\n`;
}

function metaText(dataset: ExportDataset, run: ExportRun | null, secrets: readonly string[]): string {
  const { description, notes, schema } = dataset;
  // The schema is text already, and stays as it is to the last digit.
  const members = [`"description":${canonicalJson(description)}`, `"notes":${canonicalJson(notes)}`];
  if (run)
    members.push(
      `"run":${canonicalJson(createRedactor(secrets)({ counts: run.counts, scores: run.scores }))}`,
    );
  members.push(`"schema":${schema}`);
  return line(`{${members.join(',')}}`);
}

function manifestText(
  dataset: ExportDataset,
  entries: readonly PlannedEntry[],
  run: { run: ExportRun; results: ResultsFacts } | null,
  secrets: readonly string[],
  tools: ByteTools,
): string {
  const sectionFiles = entries.filter(({ content }) => content.kind === 'section').map(({ path }) => path);
  const manifest: JsonObject = {
    format: PACKAGE_FORMAT,
    format_version: PACKAGE_FORMAT_VERSION,
    generator: GENERATOR,
    generator_version: GENERATOR_VERSION,
    name: dataset.name,
    version_hash: dataset.versionHash,
    hash_spec: HASH_SPEC,
    sections: dataset.sections.map(({ name, itemCount, sectionHash }, index) => ({
      name,
      file: sectionFiles[index]!,
      order_index: index,
      item_count: itemCount,
      section_hash: toHex(sectionHash),
    })),
    files: entries.map(({ path, content }): JsonValue => {
      const { bytes, sha256 } = factsOf(content, tools);
      return { path, bytes, sha256 };
    }),
  };
  if (run) {
    const { id, status, startedAt, finishedAt } = run.run;
    const stated = { id, status, started_at: startedAt, finished_at: finishedAt, results: run.results.count };
    manifest['run'] = createRedactor(secrets)(stated);
  }
  return line(canonicalJson(manifest));
}

function factsOf(content: PlannedContent, tools: ByteTools): FileFacts {
  if (content.kind === 'file') return content.file;
  if (content.kind !== 'text') return content.facts;
  const bytes = new TextEncoder().encode(content.text);
  return { bytes: bytes.byteLength, sha256: sha256Hex(bytes, tools) };
}

/** Media types whose files deflate gains nothing on, by the file's extension. */
function isCompressed(path: string): boolean {
  const type = mimeTypeForPath(path);
  if (type === DEFAULT_MIME_TYPE) return false;
  return (
    (/^(?:image|audio|video)\//.test(type) &&
      !/^(?:image\/(?:svg\+xml|bmp|tiff|vnd\.microsoft\.icon)|audio\/wav)$/.test(type)) ||
    /^application\/(?:zip|gzip|vnd\.openxmlformats-|vnd\.apache\.parquet)/.test(type)
  );
}
