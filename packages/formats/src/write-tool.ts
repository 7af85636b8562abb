import { encodeText } from '@svc/pkg-format/internal';
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

/** Whether a format has a form for runs, besides the one for datasets. */
export const writesRuns = (tool: WrittenTool): boolean => tool !== 'lm-eval';

/** Whether a format has a form for datasets without a run. */
export const writesDatasets = (tool: WrittenTool): boolean => tool !== 'every-eval-ever';

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
  options: WriteToolOptions = {},
): Promise<ToolExport> {
  const { model } = options;
  if (!model && needsModel(tool, source))
    throw new RangeError('Cannot write an OpenAI batch: model is missing.');
  if (source.run !== null && !writesRuns(tool)) throw new RangeError(`A run cannot be written as ${tool}.`);
  if (source.run === null && !writesDatasets(tool)) {
    throw new RangeError(`A dataset cannot be written as ${tool}.`);
  }
  const lost = new LostCounter();
  const context = { lost, model: model ?? modelOf(source.run) };
  const one = (extension: string, mediaType: string, text: AsyncIterable<string>): ToolExport => ({
    ...{ kind: 'file', extension, mediaType, lost: () => lost.list() },
    files: () => encoded([{ name: `export${extension}`, text }]),
  });
  const jsonl = (text: AsyncIterable<string>): ToolExport => one('.jsonl', 'application/jsonl', text);
  const several = (
    kind: 'archive' | 'folder',
    extension: string,
    files: AsyncIterable<WrittenFile>,
  ): ToolExport => ({
    ...{
      kind,
      extension,
      mediaType: 'application/zip',
      lost: () => lost.list(),
      files: () => encoded(files),
    },
  });
  const hasRun = source.run !== null;
  switch (tool) {
    case 'inspect':
      return hasRun
        ? several('archive', '.eval', inspectLog(source, context))
        : jsonl(inspectSamples(source, context));
    case 'inspect-json':
      return hasRun
        ? one('.json', 'application/json', inspectDocument(source, context))
        : jsonl(inspectSamples(source, context));
    case 'promptfoo':
      return hasRun
        ? one('.json', 'application/json', promptfooResults(source, context))
        : jsonl(promptfooTests(source, context));
    case 'openai-batch':
      return hasRun ? jsonl(batchResponses(source, context)) : await batch(source, context, jsonl, several);
    case 'every-eval-ever':
      return several('archive', '.zip', everyEvalEver(source, context));
    case 'lm-eval':
      return several('folder', '.zip', lmEvalTask(source, context));
  }
}

async function batch(
  source: ToolSource,
  context: WriteContext,
  jsonl: (text: AsyncIterable<string>) => ToolExport,
  several: (kind: 'folder', extension: string, files: AsyncIterable<WrittenFile>) => ToolExport,
): Promise<ToolExport> {
  if (!(await fitsOneBatch(source, { ...context, lost: new LostCounter() }))) {
    return several('folder', '.zip', batchRequests(source, context));
  }
  async function* text(): AsyncGenerator<string> {
    for await (const file of batchRequests(source, context)) yield* file.text;
  }
  return jsonl(text());
}

async function* encoded(
  files: AsyncIterable<WrittenFile> | Iterable<WrittenFile>,
): AsyncGenerator<{ readonly name: string; readonly bytes: AsyncIterable<Uint8Array> }> {
  for await (const { name, text } of files) yield { name, bytes: bytesOf(text) };
}

async function* bytesOf(text: WrittenFile['text']): AsyncGenerator<Uint8Array> {
  for await (const piece of text) yield* encodeText(piece);
}
