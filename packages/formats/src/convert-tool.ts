import { mkdtemp, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ImportMeter } from '@svc/jsonl-v23/imports';
import type { JsonObject, JsonValue } from '@svc/jsonl-v23/json';
import {
  DEFAULT_LIMITS,
  type ExportRun,
  PackageError,
  type PackageGenerator,
  type PackageLimits,
  toPackageError,
} from '@svc/pkg-format';
import { type WrittenPackage, writePackageFile } from '@svc/pkg-format/node';
import { createYielder } from '@svc/tabular';
import { type Lost, LostCounter } from './lost.ts';
import { datasetName } from './read-json.ts';
import { SampleStage } from './stage/sample-stage.ts';
import {
  type ReadContext,
  type Tool,
  type ToolContent,
  type ToolEnd,
  type ToolFile,
  type ToolRun,
  toolError,
} from './tool.ts';
import { readInspect } from './tools/inspect.ts';
import { readLmEval } from './tools/lm-eval.ts';
import { readOpenAiBatch } from './tools/openai-batch.ts';
import { readOpenAiEvals, readOpenAiEvalsApi } from './tools/openai-evals.ts';
import { readPromptfoo } from './tools/promptfoo.ts';

type Reader = (files: readonly ToolFile[], context: ReadContext) => ToolContent | Promise<ToolContent>;

const READERS: Readonly<Record<Tool, Reader>> = {
  'lm-eval': readLmEval,
  inspect: readInspect,
  'inspect-json': readInspect,
  promptfoo: readPromptfoo,
  'openai-evals': readOpenAiEvals,
  'openai-evals-api': readOpenAiEvalsApi,
  'openai-batch': readOpenAiBatch,
};

/** The formats that are read. */
export const TOOLS: readonly Tool[] = Object.keys(READERS) as Tool[];

/** The most samples of one conversion. Each takes about 150 bytes of memory until the package is written. */
const MAX_SAMPLES = 10_000_000;

export interface ConvertToolOptions {
  /** The package to write for the first run. */
  readonly output: string;
  /**
   * Names the package of each further run, which is written in addition. Without it, files of several runs are refused
   * unless `prompt` chooses one.
   *
   * @param prompt number of the run
   */
  readonly further?: (prompt: number) => string | Promise<string>;
  /** Number of the only run to read: `promptIdx` of a pair of a prompt and a provider of promptfoo, or the place of a run in a dump. */
  readonly prompt?: number | undefined;
  /** Name of the dataset; by default the name of the task, or else of the first file. */
  readonly name?: string | undefined;
  /** Whether items keep the row that the tool read them from, as `meta.source_row`. */
  readonly keepSource?: boolean;
  /** Whether anything that has no place is an error. */
  readonly strict?: boolean;
  /** Whether an existing output is replaced. */
  readonly force?: boolean;
  /** The program that writes the package; by default `@svc/pkg-format`. */
  readonly generator?: PackageGenerator;
  readonly limits?: Partial<PackageLimits>;
  readonly signal?: AbortSignal;
  /** Called before bytes are written, with how many there will then be; the conversion waits for it. */
  readonly makeRoom?: (bytes: number) => Promise<void>;
}

/** The outcome of the files of a tool. */
export interface ToolReport extends WrittenPackage {
  readonly tool: Tool;
  readonly name: string;
  /** Where the package is. */
  readonly output: string;
  /** Number of the run: 0 if the files have one. */
  readonly prompt: number;
  /** Results of the run; 0 if the files hold none. */
  readonly resultCount: number;
  /** What has no place in a package. */
  readonly lost: readonly Lost[];
}

const MAX_RUNS = 100;

/**
 * Makes a package of files of another tool: a dataset, with a run if they hold results. Each run of the files becomes a
 * package. The report, `schema.lost` and the configuration of the run list what has no place. Packages appear when they are
 * complete; until then a hidden folder next to the first has the temporary files. Memory holds one sample, and about 150
 * bytes for each.
 *
 * @returns a report of each package, in the order of the runs
 * @throws TypeError for wrong options; PackageError with file, line and JSON Pointer: `package_invalid_line`,
 *   `package_invalid_json`, `package_limit`, `package_unsupported`, `package_corrupt`; errors of the file system; the
 *   signal's reason
 */
export async function convertTool(
  tool: Tool,
  files: readonly ToolFile[],
  options: ConvertToolOptions,
): Promise<readonly ToolReport[]> {
  const { output, name: given, keepSource = false, strict = false, force } = options;
  const { generator, makeRoom, signal, prompt, further } = options;
  const entry = files[0]?.name ?? '';
  const limits: PackageLimits = { ...DEFAULT_LIMITS, ...options.limits };
  const folder = await mkdtemp(join(dirname(output), '.tool-temp-'));
  const stages = new Map<number, SampleStage>();
  await using _temporary = {
    async [Symbol.asyncDispose](): Promise<void> {
      for (const stage of stages.values()) await stage[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
  const meter = new ImportMeter({ ...limits, maxRows: MAX_SAMPLES });
  meter.setFileBytes(files.reduce((sum, { source }) => sum + source.byteLength, 0));
  let staged = 0;
  // The files of the packages and their own temporary ones are not larger than the staged lines.
  const addBytes = async (bytes: number): Promise<void> => {
    staged += bytes;
    await makeRoom?.(3 * staged);
  };

  const stageOf = (run: number): SampleStage => {
    const known = stages.get(run);
    if (known !== undefined) return known;
    if (stages.size === MAX_RUNS) {
      const message = `Files must have at most ${MAX_RUNS} runs.`;
      throw new PackageError('package_limit', message, { entry });
    }
    const stageOptions = { limits, meter, lost: new LostCounter(), keepSource, addBytes };
    const stage = new SampleStage(join(folder, String(stages.size)), stageOptions);
    stages.set(run, stage);
    return stage;
  };
  const { lost } = stageOf(prompt ?? 0);
  const unread = new LostCounter();
  const isRead = (run: number): boolean => prompt === undefined || run === prompt;
  const nextTurn = createYielder();
  const readAll = async (): Promise<Pick<ToolContent, 'name'> & { readonly ended: ToolEnd }> => {
    const { name, samples } = await READERS[tool](files, {
      ...{ limits, lost, signal },
      lostOf: (run) => (isRead(run) ? stageOf(run).lost : unread),
    });
    for (;;) {
      const turn = nextTurn();
      if (turn !== undefined) await turn;
      const next = await samples.next();
      signal?.throwIfAborted();
      if (next.done === true) return { name, ended: next.value };
      const { run = 0 } = next.value;
      if (isRead(run)) await stageOf(run).add(next.value);
    }
  };
  const { name: found, ended } = await readAll().catch((error: unknown) => {
    throw toPackageError(error, entry);
  });
  const runOf = (number: number): ToolRun | null =>
    ended instanceof Map ? (ended.get(number) ?? null) : (ended as ToolRun | null);
  const written = [...stages].filter(([, { itemCount }]) => itemCount > 0).sort(([a], [b]) => a - b);
  if (written.length === 0) {
    const problem =
      prompt === undefined ? 'The files have no samples.' : `The files have no results of prompt ${prompt}.`;
    throw new PackageError('package_no_sections', problem, { entry });
  }
  if (written.length > 1 && further === undefined) {
    const numbers = written.map(([run]) => run).join(', ');
    const message = `The files have ${written.length} runs: choose one of ${numbers}.`;
    throw new PackageError('package_unsupported', message, { entry });
  }
  for (const [number, stage] of written) {
    await stage.flush(runOf(number));
    if (strict) refuseLost(stage.lost.list());
  }
  const reports: ToolReport[] = [];
  for (const [index, [number, stage]] of written.entries()) {
    const run = runOf(number);
    const part = run?.part ?? null;
    const name = datasetName([given ?? found, ...(part === null ? [] : [part])].join(', '));
    const path = index === 0 ? output : ((await further?.(number)) ?? output);
    const losses = stage.lost.list();
    const facts = { tool, files: files.map((file) => file.name), lost: losses.map(lostValue) };
    const resultCount = run === null ? 0 : await stage.countResults();
    const report = await writePackageFile(
      path,
      { name, schema: { source: 'pkg_zip', ...facts }, sections: stage.sections() },
      {
        ...(force !== undefined && { force }),
        ...(generator && { generator }),
        ...(signal && { signal }),
        run: run === null || resultCount === 0 ? null : exportRun(run, facts, stage, resultCount),
      },
    );
    reports.push({ ...report, tool, name, output: path, prompt: number, resultCount, lost: losses });
  }
  return reports;
}

function refuseLost(losses: readonly Lost[]): void {
  const [first] = losses;
  if (first === undefined) return;
  const all = losses.map(({ what, count }) => `${what} (${count})`).join(', ');
  throw new PackageError('package_unsupported', `A package has no place for ${all}.`, {
    location: first.first,
  });
}

const lostValue = ({ what, count }: Lost): JsonObject => ({ what, count });

function exportRun(
  run: ToolRun,
  facts: { readonly [key: string]: JsonValue },
  stage: SampleStage,
  resultCount: number,
): ExportRun {
  const { name, status, startedAt, finishedAt, error, config } = run;
  return {
    ...{ id: null, name: name === null ? null : datasetName(name), status, dataset_version_hash: null },
    ...{ started_at: startedAt, finished_at: finishedAt },
    error: error === null ? null : toolError(error),
    counts: { total: resultCount },
    scores: {},
    config: {
      ...config,
      ...(stage.mainScorer === null ? {} : { main_scorer: stage.mainScorer }),
      ...{ repetitions: stage.repetitions, imported_from: facts as JsonObject },
    },
    results: () => stage.results(),
  };
}
