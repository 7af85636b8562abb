import { encodeText } from '@svc/pkg-format';
import { type Lost, LostCounter } from './lost.ts';
import type { WrittenTool } from './tool.ts';
import { modelOf } from './write/item-texts.ts';
import type { ToolSource, WriteContext, WrittenFile } from './write/tool-source.ts';
import { everyEvalEver } from './write/write-every-eval-ever.ts';
import { inspectDocument, inspectLog, inspectSamples } from './write/write-inspect.ts';
import { lmEvalTask } from './write/write-lm-eval.ts';
import { batchRequests, batchResponses, fitsOneBatch } from './write/write-openai.ts';
import { promptfooResults, promptfooTests } from './write/write-promptfoo.ts';

export interface WriteToolOptions {
  /** The model of the requests of a batch (see {@link needsModel}); for responses, by default the model of the run. */
  readonly model?: string;
}

/** A dataset or run as a tool reads it: one file, an archive of files that is one for the tool, or a folder. */
export interface ToolExport {
  readonly kind: 'file' | 'archive' | 'folder';
  /** Such as `.jsonl`, for the one file, or the archive. */
  readonly extension: string;
  readonly mediaType: string;
  /** Reads the files one after another: each to its end before the next. */
  files(): AsyncIterable<{ readonly name: string; readonly bytes: AsyncIterable<Uint8Array> }>;
  /** What had no place in the files that were read. */
  lost(): readonly Lost[];
}

type Writer = (source: ToolSource, context: WriteContext) => ToolExport | Promise<ToolExport>;

const WRITERS: Readonly<Record<WrittenTool, { readonly dataset?: Writer; readonly run?: Writer }>> = {
  'lm-eval': { dataset: several('folder', '.zip', lmEvalTask) },
  inspect: { dataset: jsonl(inspectSamples), run: several('archive', '.eval', inspectLog) },
  'inspect-json': { dataset: jsonl(inspectSamples), run: json(inspectDocument) },
  promptfoo: { dataset: jsonl(promptfooTests), run: json(promptfooResults) },
  'openai-batch': { dataset: batch, run: jsonl(batchResponses) },
  'every-eval-ever': { run: several('archive', '.zip', everyEvalEver) },
};

/** The formats that are written. */
export const WRITTEN_TOOLS: readonly WrittenTool[] = Object.keys(WRITERS) as WrittenTool[];

/** Whether a format has a form for runs, besides the one for datasets. */
export const writesRuns = (tool: WrittenTool): boolean => WRITERS[tool].run !== undefined;

/** Whether a format has a form for datasets without a run. */
export const writesDatasets = (tool: WrittenTool): boolean => WRITERS[tool].dataset !== undefined;

/** Whether the output has requests, which name a model. */
export const needsModel = (tool: WrittenTool, { run }: Pick<ToolSource, 'run'>): boolean =>
  tool === 'openai-batch' && run === null;

/**
 * Writes a dataset for a tool, or its run if it has one. Items and results are read as fast as the files are.
 *
 * @throws TypeError for wrong options; RangeError for a run in a format that has none (see {@link writesRuns}), for a
 *   dataset in one that has none (see {@link writesDatasets}), and for requests without a model; what the source throws
 */
export async function writeTool(
  tool: WrittenTool,
  source: ToolSource,
  { model }: WriteToolOptions = {},
): Promise<ToolExport> {
  if (!model && needsModel(tool, source))
    throw new RangeError('Cannot write an OpenAI batch: model is missing.');
  const { dataset, run } = WRITERS[tool];
  const write = source.run === null ? dataset : run;
  const what = source.run === null ? 'dataset' : 'run';
  if (write === undefined) throw new RangeError(`A ${what} cannot be written as ${tool}.`);
  return await write(source, { lost: new LostCounter(), model: model ?? modelOf(source.run) });
}

type TextOf = (source: ToolSource, context: WriteContext) => AsyncIterable<string>;
type FilesOf = (source: ToolSource, context: WriteContext) => AsyncIterable<WrittenFile>;

function one(extension: string, mediaType: string, textOf: TextOf): Writer {
  return (source, context) => ({
    ...{ kind: 'file', extension, mediaType, lost: () => context.lost.list() },
    files: () => encoded([{ name: `export${extension}`, text: textOf(source, context) }]),
  });
}

function jsonl(textOf: TextOf): Writer {
  return one('.jsonl', 'application/jsonl', textOf);
}

function json(textOf: TextOf): Writer {
  return one('.json', 'application/json', textOf);
}

function several(kind: 'archive' | 'folder', extension: string, filesOf: FilesOf): Writer {
  return (source, context) => ({
    ...{ kind, extension, mediaType: 'application/zip', lost: () => context.lost.list() },
    files: () => encoded(filesOf(source, context)),
  });
}

async function batch(source: ToolSource, context: WriteContext): Promise<ToolExport> {
  const fits = await fitsOneBatch(source, { ...context, lost: new LostCounter() });
  const write = fits ? jsonl(requests) : several('folder', '.zip', batchRequests);
  return await write(source, context);
}

async function* requests(source: ToolSource, context: WriteContext): AsyncGenerator<string> {
  for await (const file of batchRequests(source, context)) yield* file.text;
}

async function* encoded(
  files: AsyncIterable<WrittenFile> | Iterable<WrittenFile>,
): AsyncGenerator<{ readonly name: string; readonly bytes: AsyncIterable<Uint8Array> }> {
  for await (const { name, text } of files) yield { name, bytes: bytesOf(text) };
}

async function* bytesOf(text: WrittenFile['text']): AsyncGenerator<Uint8Array> {
  for await (const piece of text) yield* encodeText(piece);
}
