import type { Item } from '@svc/jsonl-v23';
import { ExactNumber, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import { describe, expect, it } from 'vitest';
import { createEchoProvider, createItemFieldProvider } from './create-provider.ts';

const signal = new AbortController().signal;

describe('item_field', () => {
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
  ])('returns the value at %j', async (pointer, output) => {
    expect(await createItemFieldProvider(pointer).complete({ item, messages: [] }, signal)).toMatchObject({
      output,
      usage: null,
    });
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
  ])('finds no value at %s', async (pointer) => {
    await expect(
      createItemFieldProvider(pointer).complete({ item, messages: [] }, signal),
    ).rejects.toMatchObject({
      code: 'field_missing',
      endsRun: false,
      message: `The item has no value at "${pointer}".`,
    });
  });

  it('needs no messages', () => expect(createItemFieldProvider('').usesMessages).toBe(false));
});

describe('echo', () => {
  it.each<[JsonValue, string]>([
    ['hello', 'hello'],
    [[{ type: 'text', text: 'a' }, { type: 'image_url' }, { type: 'text', text: 'b' }], 'a\nb'],
    [null, ''],
  ])('returns %j as %j', async (content, output) => {
    const messages = [
      { role: 'system', content: 'no' },
      { role: 'user', content },
    ];
    expect(await createEchoProvider().complete({ item: {}, messages }, signal)).toMatchObject({
      output,
      usage: null,
    });
  });
});
