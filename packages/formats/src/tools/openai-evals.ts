import type { JsonObject } from '@svc/jsonl-v23/json';
import { withMessages } from '../messages.ts';
import { baseName, invalidLine, readLines, sectionName } from '../read-json.ts';
import type { ReadContext, ToolContent, ToolFile, ToolRun, ToolSample } from '../tool.ts';

/** Samples of OpenAI's evals: `input`, a text or messages, and `ideal`, an answer or several. */
export function readOpenAiEvals(files: readonly ToolFile[], context: ReadContext): ToolContent {
  return { name: baseName(files), samples: samples(files, context) };
}

async function* samples(
  files: readonly ToolFile[],
  { limits, lost, signal }: ReadContext,
): AsyncGenerator<ToolSample, ToolRun | null> {
  for (const [index, file] of files.entries()) {
    const section = sectionName(files, file);
    for await (const { value, location } of readLines(file, limits, signal)) {
      const { input = null, ideal = null, id, metadata, ...others } = value;
      if (typeof input !== 'string' && !Array.isArray(input)) {
        throw invalidLine('input must be a text or an array of messages', location, '/input');
      }
      const place = lost.at(location);
      for (const name of Object.keys(others)) place.lost(`member ${name}`);
      const item: JsonObject = {
        ...(typeof id === 'string' || typeof id === 'number' ? { id } : {}),
        inputs: withMessages(input, place),
        ...(ideal === null ? {} : { answer: ideal }),
        ...(metadata === undefined || metadata === null ? {} : { meta: { metadata } }),
      };
      // Each row stays an item of its own: files of the same name are one section.
      const key = `${index}:${String(location.line)}`;
      yield { section, key, item, sourceRow: value, result: null, location };
    }
  }
  return null;
}
