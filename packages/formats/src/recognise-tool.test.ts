import { expect, it } from 'vitest';
import { recogniseTool } from './recognise-tool.ts';
import type { ToolFile } from './tool.ts';

function file(content: string, name = 'a.jsonl'): ToolFile {
  const bytes = new TextEncoder().encode(content);
  return {
    name,
    source: { byteLength: bytes.byteLength, read: async (start, end) => bytes.subarray(start, end) },
  };
}
const LM_EVAL = '{"doc_id":0,"doc":{"a":"}\\"{"},"arguments":[],"resps":[],"filtered_resps":[],"acc":NaN}';

it.each([
  ['{"input":"a","ideal":"b"}', 'openai-evals'],
  [' \t{ "ideal" : ["b"] , "input" : [ ] }\r\n{"other":1}', 'openai-evals'],
  [`${LM_EVAL}\n${LM_EVAL}\n`, 'lm-eval'],
  ['{"custom_id":"a","body":{}}', 'openai-batch'],
  ['{"custom_id":1,"body":{}}', null],
  ['{"vars":{"a":[1,{"b":"]"}]},"assert":[]}', 'promptfoo'],
  ['{"vars":[],"assert":[]}', null],
  ['{"vars":{},"other":1}', null],
  ['{"id":1,"inputs":{"prompt":"x"}}', null],
  ['{\n"input":"a","ideal":"b"}', null],
  ['{"input":"a","ideal":"b"', null],
  ['{"input":"a","ideal"', null],
  ['{input:"a","ideal":"b"}', null],
  ['{"a":{"input":1,"ideal":2}}', null],
  ['{"id":"e","object":"eval","name":"a"}', 'openai-evals-api'],
  ['[{"object":"eval.run"}]', 'openai-evals-api'],
  ['{"data": [\n {"results": [], "object": "eval.run.output_item"}], "object": "list"}', 'openai-evals-api'],
  ['{"object":"eval.run.output_item","sample":"cut', 'openai-evals-api'],
  ['{"object":"list","data":[]}', null],
  ['{"object":"list","data":[{"object":"chat.completion"}]}', null],
  ['{"inputs":{"object":"eval"}}', null],
  ['{', null],
  ['{}', null],
  ['[1]', null],
])('finds by the first line of %j: %s', async (content, tool) => {
  expect(await recogniseTool([file(content)])).toBe(tool);
});

it('reads first lines of up to 4 MiB, and no more', async () => {
  const numbers = (bytes: number): string => `${'1,'.repeat(bytes / 2)}1`;
  const line = (bytes: number): string => `{"input":"a","metadata":[${numbers(bytes)}],"ideal":"b"}\n`;
  expect(await recogniseTool([file(line(4_000_000))])).toBe('openai-evals');
  expect(await recogniseTool([file(line(5_000_000))])).toBeNull();
});

it('takes objects with more members than any tool writes for none', async () => {
  const line = (count: number): string =>
    `{"input":"a","ideal":"b",${Array.from({ length: count }, (_, index) => `"k${index}":1`).join()}}\n`;
  expect(await recogniseTool([file(line(998))])).toBe('openai-evals');
  expect(await recogniseTool([file(line(999))])).toBeNull();
});
