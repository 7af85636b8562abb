import type { Item } from '@svc/jsonl-v23';
import { canonicalJson, ExactNumber, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import { describe, expect, it } from 'vitest';
import { type PreparedItem, prepareItem } from './prepare-item.ts';
import type { OutputSource } from './provider.ts';
import { createCheckRunner } from './threads/check-runner.ts';

const checks = createCheckRunner({ threads: 0 });

function prepare(item: Item, outputSource: OutputSource): Promise<PreparedItem> {
  const parts = { payload: canonicalJson(item), answer: null, checker: null, assets: null };
  const provider = { usesMessages: outputSource.from === 'last_message', outputSource };
  const prompts = { system: null, template: null };
  return prepareItem({ provider, checks }, parts, undefined, prompts, new AbortController().signal);
}

describe('an output in an item', () => {
  const item = parseJson(
    '{"a":{"b":[1,"x",null]},"":5,"m~n":{"/":true},"n":12345678901234567890,"__proto__":7}',
  ) as Item;

  it.each<[string, JsonValue]>([
    ['', item],
    ['/a/b/0', 1],
    ['/a/b/1', 'x'],
    ['/a/b/2', null],
    ['/', 5],
    ['/m~0n/~1', true],
    ['/n', new ExactNumber('12345678901234567890')],
    ['/__proto__', 7],
  ])('is the value at %j', async (pointer, output) => {
    expect(await prepare(item, { from: 'pointer', pointer })).toMatchObject({ asked: { output } });
  });

  it.each([
    '/x',
    '/a/c',
    '/a/b/3',
    '/a/b/00',
    '/a/b/-',
    '/a/b/length',
    '/constructor',
    '/a/b/1/0',
    '/n/text',
  ])('is none at %s', async (pointer) => {
    expect(await prepare(item, { from: 'pointer', pointer })).toMatchObject({
      asked: {
        error: {
          code: 'field_missing',
          endsRun: false,
          message: `The item has no value at "${pointer}".`,
        },
      },
    });
  });

  it.each<[JsonValue, string]>([
    ['hello', 'hello'],
    [[{ type: 'text', text: 'a' }, { type: 'image_url' }, { type: 'text', text: 'b' }], 'a\nb'],
    [null, ''],
  ])('is the text of the last message: %j as %j', async (content, output) => {
    const messages = [
      { role: 'system', content: 'no' },
      { role: 'user', content },
    ];
    const prepared = await prepare({ inputs: { messages } }, { from: 'last_message' });
    expect(prepared).toMatchObject({ asked: { output } });
  });
});
