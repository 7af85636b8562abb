import { expect, it } from 'vitest';
import { formatLocation } from '../source-location.ts';
import type { ItemSource } from './byte-chunks.ts';
import { checkItems, readItems } from './read-items.ts';

async function check(source: ItemSource, options = {}): Promise<string[]> {
  const found: string[] = [];
  for await (const { location, item, error } of checkItems(source, { file: 'a.jsonl', ...options })) {
    if (error === undefined) found.push(`${location.line}: ${JSON.stringify(item)}`);
    else found.push(`${formatLocation(error.location)}: ${error.code}`);
  }
  return found;
}

it('reports every line: its item, or what is wrong with it and where', async () => {
  const text = '\ufeff{"id":1}\r\n\n{"id":null}\n[1]\n{"id":2,\n{"tags":["a", 7]}\n{"x":1,"x":2}\n{"id":3}';
  const bytes = Buffer.concat([Buffer.from(text), Buffer.from([10, 0x22, 0xff, 10])]);
  const expected = [
    '1: {"id":1}',
    'a.jsonl:3:7 (/id): invalid_item',
    'a.jsonl:4:1: not_an_object',
    'a.jsonl:5:9: invalid_json',
    'a.jsonl:6:15 (/tags/1): invalid_item',
    'a.jsonl:7:8: duplicate_key',
    '8: {"id":3}',
    'a.jsonl:9:2: invalid_utf8',
  ];
  expect(await check(bytes)).toEqual(expected);
  expect(await check([bytes.subarray(0, 20), bytes.subarray(20)])).toEqual(expected);
});

it('continues after a line that is too long, and stops at an abort', async () => {
  expect(await check('{"a":"xxxxxxxx"}\n{}', { maxLineBytes: 8 })).toEqual([
    'a.jsonl:1: line_too_long',
    '2: {}',
  ]);
  const stop = new AbortController();
  const lines = checkItems('{}\n{}\n{}', { signal: stop.signal });
  await lines.next();
  stop.abort(new Error('enough'));
  await expect(lines.next()).rejects.toThrow('enough');
  await expect(checkItems(5 as unknown as string).next()).rejects.toThrow(TypeError);
});

it('lists all errors of a line, and first the one that readItems reports', async () => {
  const line = `{"tags":[1,"a",{}],"criteria":[0],"inputs":{"prompt":1,"messages":[{"role":2}]},"assets":["nowhere",{"url":"x"},{"data":"?"}],"checker":{"path":"./checkers/a"},"id":true}`;
  const [checked] = await Array.fromAsync(checkItems(`${line}\n`));
  expect(checked?.errors?.map(({ code, location }) => [code, location.path, location.column])).toEqual([
    ['invalid_item', '/id', line.indexOf('true') + 1],
    ['invalid_item', '/inputs/prompt', line.indexOf('1,"messages') + 1],
    ['invalid_item', '/inputs/messages/0', line.indexOf('{"role') + 1],
    ['invalid_item', '/inputs/messages/0/role', line.indexOf('2}') + 1],
    ['invalid_item', '/criteria/0', line.indexOf('0]') + 1],
    ['invalid_item', '/tags/0', 10],
    ['invalid_item', '/tags/2', 16],
    ['invalid_asset', '/assets/0', line.indexOf('"nowhere"') + 1],
    ['invalid_asset', '/assets/2/data', line.indexOf('"?"') + 1],
    ['invalid_asset', '/checker/path', line.indexOf('"./check') + 1],
  ]);
  expect(checked?.error).toEqual(checked?.errors?.[0]);
  await expect(Array.fromAsync(readItems(line))).rejects.toEqual(checked?.error);
});

it('lists at most ten errors of a line', async () => {
  const [checked] = await Array.fromAsync(
    checkItems(JSON.stringify({ tags: Array(1000).fill(0), assets: [1] })),
  );
  expect(checked?.errors?.map(({ location }) => location.path)).toEqual(
    Array.from({ length: 10 }, (_, index) => `/tags/${index}`),
  );
});
