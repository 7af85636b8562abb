import { mkdtemp, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { checkOptions, ImportMeter } from '@svc/jsonl-v23/internal';
import type { JsonObject, JsonValue } from '@svc/jsonl-v23/json';
import { DEFAULT_LIMITS, type ExportRun, PackageError, type PackageLimits } from '@svc/pkg-format';
import { toPackageError } from '@svc/pkg-format/internal';
import { type WrittenPackage, writePackageFile } from '@svc/pkg-format/node';
import { createYielder } from '@svc/tabular/internal';
import { datasetName } from './base-name.ts';
import { type Lost, LostCounter } from './lost.ts';
import { SampleStage } from './sample-stage.ts';
import {
  type ReadContext,
  type Tool,
  type ToolContent,
  type ToolFile,
  type ToolRun,
  toolError,
} from './tool.ts';
import { readInspect } from './tools/inspect.ts';
import { readLmEval } from './tools/lm-eval.ts';
import { readOpenAiBatch } from './tools/openai-batch.ts';
import { readOpenAiEvals } from './tools/openai-evals.ts';
import { readPromptfoo } from './tools/promptfoo.ts';

type Reader = (files: readonly ToolFile[], context: ReadContext) => ToolContent | Promise<ToolContent>;

const READERS: Readonly<Record<Tool, Reader>> = {
  inspect: readInspect,
  'inspect-json': readInspect,
  'lm-eval': readLmEval,
  promptfoo: readPromptfoo,
  'openai-evals': readOpenAiEvals,
  'openai-batch': readOpenAiBatch,
};

/** The most samples of one conversion. Each takes about 150 bytes of memory until the package is written. */
const MAX_SAMPLES = 10_000_000;

export interface ConvertToolOptions {
  /** The package to write. */
  readonly output: string;
  /** Name of the dataset; by default that of the task, or else of the first file. */
  readonly name?: string | undefined;
  /** Whether items keep the row that the tool read them from, as `meta.source_row`. */
  readonly keepSource?: boolean;
  /** Whether anything that has no place is an error. */
  readonly strict?: boolean;
  /** Whether an existing output is replaced. */
  readonly force?: boolean;
  readonly limits?: Partial<PackageLimits>;
  readonly signal?: AbortSignal;
  /** Is awaited before bytes are written, with how many there will then be. */
  readonly makeRoom?: (bytes: number) => Promise<void>;
}

/** The outcome of the files of a tool. */
export interface ToolReport extends WrittenPackage {
  readonly tool: Tool;
  readonly name: string;
  /** Results of the run; 0 if the files hold none. */
  readonly resultCount: number;
  /** What has no place in a package. */
  readonly lost: readonly Lost[];
}

/**
 * Makes a package of files of another tool: a dataset, with a run if they hold results. What has no place is in the
 * report, and in `schema.lost` and the configuration of the run. The package appears when it is complete; until then a
 * hidden folder next to it has the temporary files. Memory holds one sample, and about 150 bytes for each.
 *
 * @throws TypeError for wrong options; PackageError with file, line and JSON Pointer: `package_invalid_line`,
 *   `package_invalid_json`, `package_limit`, `package_unsupported`, `package_corrupt`; errors of the file system; the
 *   signal's reason
 */
export async function convertTool(
  tool: Tool,
  files: readonly ToolFile[],
  options: ConvertToolOptions,
): Promise<ToolReport> {
  checkOptions('convertTool', options, {
    ...{ output: true, name: true, keepSource: true, strict: true, force: true, limits: true },
    ...{ signal: true, makeRoom: true },
  });
  const { output, name: given, keepSource = false, strict = false, force, makeRoom, signal } = options;
  const limits: PackageLimits = { ...DEFAULT_LIMITS, ...options.limits };
  const lost = new LostCounter();
  const folder = await mkdtemp(join(dirname(output), '.tool-temp-'));
  await using _folder = { [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
  // The files of the package and its own temporary ones are not larger than the staged lines.
  const roomFor = makeRoom && ((bytes: number): Promise<void> => makeRoom(3 * bytes));
  const meter = new ImportMeter({ ...limits, maxRows: MAX_SAMPLES });
  meter.setFileBytes(files.reduce((sum, { source }) => sum + source.byteLength, 0));
  await using stage = new SampleStage(folder, { limits, meter, lost, keepSource, makeRoom: roomFor });

  const { name: found, samples } = await READERS[tool](files, { limits, lost, signal });
  let run: ToolRun | null = null;
  const nextTurn = createYielder();
  for (;;) {
    const turn = nextTurn();
    if (turn !== undefined) await turn;
    const next = await samples.next();
    signal?.throwIfAborted();
    if (next.done === true) {
      run = next.value;
      break;
    }
    await stage.add(next.value).catch((error: unknown) => {
      throw toPackageError(error, files[0]?.name ?? '');
    });
  }
  await stage.flush();
  if (stage.itemCount === 0) {
    throw new PackageError('package_no_sections', 'The files have no samples.', {
      entry: files[0]?.name ?? '',
    });
  }
  const losses = lost.list();
  const [first] = losses;
  if (strict && first !== undefined) {
    const all = losses.map(({ what, count }) => `${what} (${count})`).join(', ');
    throw new PackageError('package_unsupported', `A package has no place for ${all}.`, {
      location: first.first,
    });
  }
  const name = given ?? datasetName(found);
  const facts = { tool, files: files.map((file) => file.name), lost: losses.map(lostValue) };
  const resultCount = run === null ? 0 : await stage.countResults();
  const written = await writePackageFile(
    output,
    { name, schema: { source: 'pkg_zip', ...facts }, sections: stage.sections() },
    {
      ...(force !== undefined && { force }),
      ...(signal && { signal }),
      run: run === null || resultCount === 0 ? null : exportRun(run, facts, stage, resultCount),
    },
  );
  return { ...written, tool, name, resultCount, lost: losses };
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
    config: { ...config, repetitions: stage.repetitions, imported_from: facts as JsonObject },
    results: () => stage.results(),
  };
}
