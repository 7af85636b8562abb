import type { ItemParts } from '@svc/jsonl-v23/internal';
import { isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import type { ExportDataset, ExportResult, ExportRun } from '@svc/pkg-format';
import { packageEtag } from '@svc/pkg-format/internal';
import { writePackageStream } from '@svc/pkg-format/node';
import type { DatasetSummary, OutcomeSection } from './ports.ts';

/** A section as the store has it. */
export type StoredSectionRow = OutcomeSection;

/** A finished or running run as the store has it. */
export interface StoredRun {
  readonly id: string;
  readonly status: string;
  readonly config: JsonValue;
  readonly counts: {
    readonly total: number;
    readonly done: number;
    readonly ok: number;
    readonly failed: number;
    readonly unscored: number;
  };
  readonly scores: {
    readonly mean: number | null;
    readonly passed: number;
    readonly passRate: number | null;
  };
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
}

/** One result as the store has it. */
export interface StoredResultRow {
  readonly section: string;
  readonly orderIndex: number;
  readonly itemId: JsonValue;
  readonly repetition: number;
  readonly status: string;
  readonly output: JsonValue;
  readonly score: number | null;
  readonly passed: boolean | null;
  readonly explanation: JsonValue;
  readonly error: JsonValue;
  readonly latencyMs: number | null;
  readonly usage: JsonValue;
}

/** A stored dataset at one moment, open for reading. */
export interface OpenStoredDataset extends AsyncDisposable {
  readonly dataset: DatasetSummary;
  readonly sections: readonly StoredSectionRow[];
  items(sections: readonly StoredSectionRow[]): AsyncIterable<readonly ItemParts[]>;
  itemAt(section: StoredSectionRow, orderIndex: number): Promise<ItemParts>;
  run(runId: string): Promise<StoredRun>;
  results(runId: string): AsyncIterable<readonly StoredResultRow[]>;
}

export interface ExportOptions {
  /** the run to take along */
  readonly runId?: string | undefined;
  /** secrets known to this process: none of them is written */
  readonly secrets?: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

/** A package that can be written. */
export interface PackageExport {
  /** `<name>.pkg.zip`, safe on every file system */
  readonly fileName: string;
  /** identifies the package's bytes; quotes included */
  readonly etag: string;
  /** The archive's bytes, as fast as they are taken. */
  bytes(): AsyncIterable<Uint8Array>;
}

/**
 * Exports an open dataset: stored texts → package. Nothing is parsed but items that embed files, and nothing is held
 * but a batch. The caller closes the dataset when the bytes have been taken, or were not wanted.
 *
 * @throws what the store throws for a run that is not there
 */
export async function exportPackage(
  open: OpenStoredDataset,
  options: ExportOptions = {},
): Promise<PackageExport> {
  const { dataset } = open;
  const exported: ExportDataset = {
    name: dataset.name,
    description: dataset.description,
    notes: dataset.notes,
    schema: dataset.schema,
    versionHash: dataset.versionHash,
    sections: open.sections.map((section) => ({
      name: section.name,
      itemCount: section.itemCount,
      sectionHash: section.sectionHash,
      exportFile: section.exportFile,
      items: () => open.items([section]),
      itemAt: (orderIndex) => open.itemAt(section, orderIndex),
    })),
  };
  const run = options.runId === undefined ? null : exportRun(open, await open.run(options.runId));
  const { secrets = [], signal } = options;
  return {
    fileName: packageFileName(dataset.name),
    etag: packageEtag(exported, run),
    bytes: () => writePackageStream(exported, { run, secrets, ...(signal === undefined ? {} : { signal }) }),
  };
}

function exportRun(open: OpenStoredDataset, run: StoredRun): ExportRun {
  const { config } = run;
  return {
    id: run.id,
    status: run.status,
    startedAt: run.startedAt?.toISOString() ?? null,
    finishedAt: run.finishedAt?.toISOString() ?? null,
    counts: { ...run.counts },
    scores: { mean: run.scores.mean, passed: run.scores.passed, pass_rate: run.scores.passRate },
    config: isJsonObject(config) ? config : {},
    results: async function* () {
      for await (const batch of open.results(run.id)) yield batch.map(toExportResult);
    },
  };
}

function toExportResult(result: StoredResultRow): ExportResult {
  return {
    section: result.section,
    order_index: result.orderIndex,
    item_id: result.itemId,
    repetition: result.repetition,
    status: result.status,
    output: result.output,
    score: result.score,
    passed: result.passed,
    explanation: result.explanation,
    error: result.error,
    latency_ms: result.latencyMs,
    usage: result.usage as JsonObject | null,
  };
}

/** What no file system takes, and what a shell or a header would trip over. */
const UNSAFE = /[\p{Cc}\p{Cs}<>:"/\\|?*]+/gu;
const MAX_BASE_LENGTH = 120;

/** The file name of a dataset's package. */
export function packageFileName(name: string): string {
  const safe = name
    .normalize('NFC')
    .replace(UNSAFE, '_')
    .replace(/^[.\s]+|(?<![.\s])[.\s]+$/g, '');
  const base = [...safe].slice(0, MAX_BASE_LENGTH).join('') || 'dataset';
  return `${base}.pkg.zip`;
}
