import { getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import {
  hashedResult,
  isJsonField,
  labelMembers,
  namesScorers,
  PACKAGED_RUN_FIELDS,
  type PackagedRunMember,
  PUBLIC_RESULT_FIELDS,
  recordText,
  wireValue,
} from '@svc/jsonl-v23/runs';
import {
  type ExportBaseline,
  type ExportDataset,
  type ExportResult,
  type ExportRun,
  linesToBytes,
  type PackageGenerator,
  packageEtag,
} from '@svc/pkg-format';
import { writePackageStream } from '@svc/pkg-format/node';
import { sanitiseRunConfig } from '@svc/pkg-format/secrets';
import { stableNumber } from '../evaluation/index.ts';
import {
  type ExportedRun,
  joinStoredItem,
  type LabelledResult,
  type OpenDataset,
  readStoredJson,
  type StoredSection,
  StoreError,
} from '../store/index.ts';
import { type FileExport, fileBaseName } from './tables/tables.ts';

export interface RunSelection {
  readonly runId?: string | undefined;
  readonly allowIncomplete?: boolean | undefined;
  readonly includeBaseline?: boolean | undefined;
}

export interface ExportOptions extends RunSelection {
  readonly generator: PackageGenerator;
  /** Secrets known to this process: none of them is written. */
  readonly secrets?: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

/**
 * Exports an open dataset: stored texts → package. Parses only items that embed files, and holds one batch. The
 * caller closes the dataset when the bytes have been taken, or are not needed.
 */
export async function exportPackage(open: OpenDataset, options: ExportOptions): Promise<FileExport> {
  const { dataset } = open;
  const { generator, secrets = [], signal } = options;
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
      bytes: () => linesToBytes(itemLines(open, section)),
      itemAt: (orderIndex) => open.itemAt(section, orderIndex),
    })),
    content: open.content,
  };
  const stored = await selectedRun(open, options);
  const facts = stored && exportRun(stored);
  const baseline = options.includeBaseline === true ? await exportBaseline(open, stored, secrets) : null;
  const run = stored && facts && { ...facts, baseline, results: () => exportResults(open, stored.id) };
  return {
    fileName: `${fileBaseName(dataset.name, 'dataset')}.pkg.zip`,
    mediaType: 'application/zip',
    etag: packageEtag(
      exported,
      generator,
      facts,
      stored === null ? [] : [stored.resultsVersion, stored.labelsState, baseline?.run ?? null],
    ),
    bytes: () =>
      writePackageStream(exported, { run, generator, secrets, ...(signal === undefined ? {} : { signal }) }),
  };
}

/**
 * The run to export; null without one.
 *
 * @throws StoreError `run_not_found`; `run_incomplete` for a run that is not `completed`, unless that is allowed
 */
export async function selectedRun(
  open: OpenDataset,
  { runId, allowIncomplete = false }: RunSelection,
): Promise<ExportedRun | null> {
  if (runId === undefined) return null;
  const run = await open.run(runId);
  if (run.status === 'completed' || allowIncomplete) return run;
  const message = `Cannot export the run: it is ${run.status}, not completed. allow_incomplete exports what there is, and marks it.`;
  throw new StoreError('run_incomplete', message);
}

function exportRun(run: ExportedRun): Omit<ExportRun, 'results'> {
  const { config, error } = run;
  const { truncated: _, reused: __, ...counts } = run.counts;
  const members = PACKAGED_RUN_FIELDS.map(({ name, wire }) => [wire, wireValue(run[name] as string | Date)]);
  return {
    ...(Object.fromEntries(members) as Pick<ExportRun, PackagedRunMember>),
    // Readers of the first packages do not know the status of a run that waits for results.
    status: run.status === 'waiting' ? 'running' : run.status,
    // An imported run keeps its id from export to export.
    id: run.originId ?? run.id,
    // Earlier readers know no other status of a run that did not get to its end; its error says what it is.
    ...(run.status === 'stopped' && { status: 'cancelled' as const }),
    error: isJsonObject(error) ? error : null,
    counts,
    ...statedScores(run),
    bar: run.bar,
    verdict: run.verdict === null ? null : readStoredJson(run.verdict),
    config: isJsonObject(config) ? config : {},
  };
}

const STATED_SCORES = ['mean', 'stderr', 'ci95', 'passed', 'pass_rate', 'pass_rate_ci95'] as const;

/** The scores of a run for a package, in numbers that do not depend on the order of its results. */
function statedScores(run: ExportedRun): { readonly scores: JsonObject; readonly scorers: JsonObject } {
  const { mean, passed, passRate } = run.scores;
  const counted = { mean, passed, pass_rate: passRate };
  const objectOf = (text: string | null): JsonObject => {
    const value = text === null ? null : readStoredJson(text);
    return isJsonObject(value) ? value : {};
  };
  const stable = (value: JsonValue): JsonValue =>
    typeof value === 'number' ? stableNumber(value) : Array.isArray(value) ? value.map(stable) : value;
  const stated = (of: JsonValue): JsonObject =>
    Object.fromEntries(
      STATED_SCORES.map((name) => [name, stable((isJsonObject(of) ? of[name] : undefined) ?? null)]),
    );
  const scorers = Object.entries(objectOf(run.summaryScorers)).map(([name, of]) => [name, stated(of)]);
  return {
    scores: { ...stated(objectOf(run.summaryScores)), ...counted },
    scorers: Object.fromEntries(scorers),
  };
}

async function exportBaseline(
  open: OpenDataset,
  run: ExportedRun | null,
  secrets: readonly string[],
): Promise<ExportBaseline> {
  const bar = run?.bar == null ? null : (readStoredJson(run.bar) as JsonObject);
  const id = bar === null ? undefined : getMember(bar, 'baseline');
  if (typeof id !== 'string') {
    throw new StoreError('invalid_request', 'include_baseline needs a run whose bar has a baseline.');
  }
  const baseline = await open.anyRun(id);
  const config = sanitiseRunConfig(readStoredJson(baseline.config) as JsonObject, secrets);
  const isNamed = namesScorers(config);
  const { runHash, datasetVersionHash } = baseline;
  return {
    run: {
      ...{ id, run_hash: runHash, version_hash: datasetVersionHash, config },
      bar: baseline.bar === null ? null : readStoredJson(baseline.bar),
    },
    async *records() {
      for await (const batch of open.results(id)) {
        yield batch.map((result) => recordText(hashedResult(toExportResult(result)), isNamed));
      }
    },
  };
}

/** The lines of a section whose items link no files. */
async function* itemLines(
  open: OpenDataset,
  section: StoredSection,
): AsyncGenerator<(Uint8Array | string | AsyncIterable<Uint8Array>)[]> {
  for await (const lines of open.lines([section])) {
    yield lines.map((line) => (typeof line === 'object' && 'payload' in line ? joinStoredItem(line) : line));
  }
}

async function* exportResults(open: OpenDataset, runId: string): AsyncGenerator<readonly ExportResult[]> {
  for await (const batch of open.results(runId)) yield batch.map(toExportResult);
}

export function toExportResult(result: LabelledResult): ExportResult {
  const members: Record<string, JsonValue> = {};
  for (const field of PUBLIC_RESULT_FIELDS) {
    const value = result[field.name];
    members[field.wire] =
      isJsonField(field) && value !== null ? readStoredJson(value as string) : wireValue(value);
  }
  // A package without labels has the same bytes as before labels existed.
  if (result.labels.length > 0) members['labels'] = result.labels.map(labelMembers);
  return members as ExportResult;
}
