import { encodeItem, parseItem } from '@svc/jsonl-v23';
import { canonicalJson, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { PlainLineCollector } from '@svc/jsonl-v23/lines';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { times } from '../../../../tools/vitest/long.ts';
import { datasetPrompts, LEGACY_KEYS, type UpgradeContext, upgradeItem } from './upgrade-item.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const context = (blobs: JsonObject[] = [], files: string[] = []): UpgradeContext => ({
  section: 's',
  prompts: datasetPrompts(blobs),
  location: { file: 'data/s.jsonl', line: 3 },
  resolveFile: (reference) => (files.includes(reference) ? reference : null),
});
const upgrade = (item: JsonObject, blobs?: JsonObject[], files?: string[]) =>
  upgradeItem(item, context(blobs, files));

describe('upgradeItem moves', () => {
  it.each<[string, JsonObject, JsonObject]>([
    ['system_prompt', { system_prompt: 'S' }, { inputs: { system_prompt: 'S' } }],
    ['system', { system: 'S', inputs: { prompt: 'P' } }, { inputs: { prompt: 'P', system_prompt: 'S' } }],
    ['inputs.system', { inputs: { system: 'S', k: 1 } }, { inputs: { k: 1, system_prompt: 'S' } }],
    [
      'prompt.system',
      { prompt: { system: 'S', k: 1 } },
      { prompt: { k: 1 }, inputs: { system_prompt: 'S' } },
    ],
    [
      'prompt.system and prompt.user',
      { prompt: { system: 'S', user: 'U' } },
      { inputs: { system_prompt: 'S', prompt: 'U' } },
    ],
    [
      'a first message of role system',
      {
        messages: [
          { role: 'system', content: 'S' },
          { role: 'user', content: 'U' },
        ],
      },
      { inputs: { system_prompt: 'S', messages: [{ role: 'user', content: 'U' }] } },
    ],
    [
      'a first message of role system in inputs',
      {
        inputs: {
          messages: [
            { role: 'system', content: 'S' },
            { role: 'user', content: 'U' },
          ],
        },
      },
      { inputs: { system_prompt: 'S', messages: [{ role: 'user', content: 'U' }] } },
    ],
    [
      'the only message',
      { messages: [{ role: 'system', content: 'S' }] },
      { inputs: { system_prompt: 'S' } },
    ],
    ['a system prompt of null', { system_prompt: null }, { inputs: { system_prompt: null } }],
    ['judge_prompt', { judge_prompt: 'J' }, { meta: { judge_prompt: 'J' } }],
    [
      'judge.prompt',
      { judge: { prompt: 'J', model: 'm' } },
      { judge: { model: 'm' }, meta: { judge_prompt: 'J' } },
    ],
    ['judge.prompt alone', { judge: { prompt: 'J' } }, { meta: { judge_prompt: 'J' } }],
    ['grader_prompt', { grader_prompt: 'J', meta: { a: 1 } }, { meta: { a: 1, judge_prompt: 'J' } }],
    [
      'checker.judge_prompt',
      { checker: { type: 'judge', judge_prompt: 'J' } },
      { checker: { type: 'judge' }, meta: { judge_prompt: 'J' } },
    ],
    [
      'inputs.judge_prompt',
      { inputs: { prompt: 'P', judge_prompt: 'J' } },
      { inputs: { prompt: 'P' }, meta: { judge_prompt: 'J' } },
    ],
    ['prompt', { prompt: 'P' }, { inputs: { prompt: 'P' } }],
    ['question', { question: 'P' }, { inputs: { prompt: 'P' } }],
    ['input', { input: 'P' }, { inputs: { prompt: 'P' } }],
    ['inputs of text', { inputs: 'P' }, { inputs: { prompt: 'P' } }],
    ['expected', { expected: 4 }, { answer: 4 }],
    ['target', { target: null }, { answer: null }],
    ['reference', { reference: ['a'] }, { answer: ['a'] }],
    ['ideal', { ideal: { a: 1 } }, { answer: { a: 1 } }],
    [
      'the same value twice',
      { prompt: 'P', question: 'P', inputs: { prompt: 'P' } },
      { inputs: { prompt: 'P' } },
    ],
    [
      'nothing of a new item',
      { id: 1, inputs: { prompt: 'P', system_prompt: 'S' }, answer: 'A' },
      { id: 1, inputs: { prompt: 'P', system_prompt: 'S' }, answer: 'A' },
    ],
    [
      'other keys never',
      { system_message: 's', solutions: 1, __proto__x: 2 },
      { system_message: 's', solutions: 1, __proto__x: 2 },
    ],
    [
      'nulls that say nothing',
      { id: null, inputs: null, meta: null, assets: null, tags: null, criteria: null, type: null },
      {},
    ],
  ])('%s', (_, legacy, expected) => {
    const before = structuredClone(legacy);
    expect(upgrade(legacy).item).toEqual(expected);
    expect(legacy).toEqual(before);
  });

  it('keeps keys such as __proto__', () => {
    const legacy = JSON.parse('{"__proto__":{"a":1},"constructor":2,"prompt":"P"}') as JsonObject;
    expect(JSON.stringify(upgrade(legacy).item)).toBe(
      '{"__proto__":{"a":1},"constructor":2,"inputs":{"prompt":"P"}}',
    );
  });
});

describe('upgradeItem keeps', () => {
  it.each<[string, JsonObject, JsonObject, string]>([
    [
      'an answer that is there',
      { answer: 1, expected: 2 },
      { answer: 1, expected: 2 },
      'clash expected answer',
    ],
    ['an answer of null', { answer: null, target: 2 }, { answer: null, target: 2 }, 'clash target answer'],
    [
      'a second prompt',
      { prompt: 'P', question: 'Q' },
      { question: 'Q', inputs: { prompt: 'P' } },
      'clash question inputs.prompt',
    ],
    [
      'a second system prompt',
      { system: 'S', inputs: { system: 'T' } },
      { inputs: { system: 'T', system_prompt: 'S' } },
      'clash inputs.system inputs.system_prompt',
    ],
    ['a system prompt that is not a text', { system: 5 }, { system: 5 }, 'kept system inputs.system_prompt'],
    [
      'a system message of parts',
      { inputs: { messages: [{ role: 'system', content: [{ type: 'text' }] }] } },
      { inputs: { messages: [{ role: 'system', content: [{ type: 'text' }] }] } },
      'kept inputs.messages[0] inputs.system_prompt',
    ],
    [
      'a system message with a name',
      { inputs: { messages: [{ role: 'system', name: 'n', content: 'S' }] } },
      { inputs: { messages: [{ role: 'system', name: 'n', content: 'S' }] } },
      'kept inputs.messages[0] inputs.system_prompt',
    ],
    [
      'a judge prompt and a meta that is not an object',
      { judge_prompt: 'J', meta: 'x' },
      { judge_prompt: 'J', meta: 'x' },
      'clash judge_prompt meta.judge_prompt',
    ],
    [
      'messages and other messages',
      { messages: [], inputs: { messages: [{ role: 'user', content: 'U' }] } },
      { messages: [], inputs: { messages: [{ role: 'user', content: 'U' }] } },
      'clash messages inputs.messages',
    ],
  ])('%s', (_, legacy, expected, change) => {
    const { item, changes } = upgrade(legacy);
    expect(item).toEqual(expected);
    expect(changes.map(({ what, from, to }) => `${what} ${from} ${to}`)).toContain(change);
  });
});

describe('prompts of the dataset', () => {
  it.each<[string, JsonObject, JsonObject[], JsonObject]>([
    ['system_prompt', {}, [{ system_prompt: 'S' }], { inputs: { system_prompt: 'S' } }],
    [
      'the first blob wins',
      {},
      [{ system_prompt: 'S' }, { system_prompt: 'T' }],
      { inputs: { system_prompt: 'S' } },
    ],
    ['an own one wins', { system: 'T' }, [{ system_prompt: 'S' }], { inputs: { system_prompt: 'T' } }],
    [
      'null is none',
      { inputs: { system_prompt: null } },
      [{ system_prompt: 'S' }],
      { inputs: { system_prompt: 'S' } },
    ],
    [
      'judge_prompt',
      {},
      [{ judge_prompt: 'J', default_judge_prompts: 'K' }],
      { meta: { judge_prompt: 'J' } },
    ],
    [
      'an own judge prompt wins',
      { grader_prompt: 'L' },
      [{ judge_prompt: 'J' }],
      { meta: { judge_prompt: 'L' } },
    ],
    ['one default', {}, [{ default_judge_prompts: 'K' }], { meta: { judge_prompt: 'K' } }],
    [
      'defaults by type',
      { type: 'code' },
      [{ default_judge_prompts: { code: 'C', default: 'D' } }],
      { type: 'code', meta: { judge_prompt: 'C' } },
    ],
    [
      'an item without type is freeform',
      {},
      [{ default_judge_prompts: { freeform: { prompt: 'F' } } }],
      { meta: { judge_prompt: 'F' } },
    ],
    [
      'defaults by section',
      {},
      [{ default_judge_prompts: { s: 'B', default: 'D' } }],
      { meta: { judge_prompt: 'B' } },
    ],
    [
      'the default of defaults',
      {},
      [{ default_judge_prompts: { x: 'B', default: 'D' } }],
      { meta: { judge_prompt: 'D' } },
    ],
    ['a list', {}, [{ default_judge_prompts: ['A', 'B'] }], { meta: { judge_prompt: 'A\n\nB' } }],
    [
      'a list by type',
      {},
      [
        {
          default_judge_prompts: [
            { type: 'code', prompt: 'C' },
            { type: 'freeform', prompt: 'F' },
          ],
        },
      ],
      { meta: { judge_prompt: 'F' } },
    ],
    ['no default that fits', {}, [{ default_judge_prompts: { code: 'C' } }], {}],
  ])('%s', (_, legacy, blobs, expected) => {
    expect(upgrade(legacy, blobs).item).toEqual(expected);
  });
});

describe('assets', () => {
  const png = 'iVBORw0KGgo=';
  const embedded = (mime_type: string, data: string, more: JsonObject = {}): JsonObject => ({
    ...more,
    mime_type,
    encoding: 'base64',
    data,
  });
  it.each<[string, JsonObject[string], JsonObject]>([
    ['data', { data: png, content_type: 'image/png' }, embedded('image/png', png)],
    ['content', { content: png, mime: 'image/png' }, embedded('image/png', png)],
    ['base64', { base64: png, media_type: 'image/png', alt: 'x' }, embedded('image/png', png, { alt: 'x' })],
    ['no type: by content', { data: png }, embedded('image/png', png)],
    [
      'no type: by name',
      { data: base64('a,b'), filename: 'x.csv' },
      embedded('text/csv', base64('a,b'), { filename: 'x.csv' }),
    ],
    ['no type at all', { data: base64('hello') }, embedded('application/octet-stream', base64('hello'))],
    ['base64 in another spelling', { base64: '-_-_\n-w', mime: 'x/y' }, embedded('x/y', '+/+/+w==')],
    [
      'plain text',
      { content: 'hello, world!', mime: 'text/plain' },
      embedded('text/plain', base64('hello, world!')),
    ],
    [
      'plain text that could be base64',
      { content: 'test', mime: 'text/plain' },
      embedded('text/plain', base64('test')),
    ],
    [
      'text in base64',
      { content: base64('hällo'), mime: 'text/plain' },
      embedded('text/plain', base64('hällo')),
    ],
    ['JSON', { data: { a: [1] } }, embedded('application/json', base64('{"a":[1]}'))],
    ['a data: URI as text', `data:image/png;base64,${png}`, embedded('image/png', png)],
    ['a data: URI as url', { url: `data:image/png;base64,${png}` }, embedded('image/png', png)],
    [
      'a data: URI as data',
      { data: `data:image/png;base64,${png}`, mime_type: 'image/x' },
      embedded('image/x', png),
    ],
    ['a percent-encoded data: URI', 'data:,a%20b', embedded('text/plain;charset=US-ASCII', base64('a b'))],
    [
      'a path and content',
      { data: png, path: 'pics/a.png', mime: 'image/png' },
      embedded('image/png', png, { legacy: { path: 'pics/a.png' } }),
    ],
    [
      'two types',
      { data: png, mime_type: 'image/a', content_type: 'image/b', mime: 'image/a' },
      embedded('image/a', png, { legacy: { content_type: 'image/b' } }),
    ],
    ['a link', 'https://x.example/a.png', { url: 'https://x.example/a.png' }],
    [
      'a link with a type',
      { url: 'https://x.example/a.png', mime: 'image/png' },
      { url: 'https://x.example/a.png', mime_type: 'image/png' },
    ],
    ['neither content nor file', { note: 'x' }, { note: 'x' }],
    [
      'a link and a file name',
      { uri: 'https://x.example/a', filename: 'a.png' },
      { uri: 'https://x.example/a', filename: 'a.png' },
    ],
    ['a name with a scheme', { src: 'cid:part1' }, { src: 'cid:part1' }],
    ['an absolute reference', { href: '/static/a.png' }, { href: '/static/a.png' }],
  ])('%s', (_, asset, expected) => {
    expect(upgrade({ assets: [asset] }).item).toEqual({ assets: [expected] });
    expect(upgrade({ assets: { n: asset } }).item).toEqual({ assets: { n: expected } });
  });

  it.each<[string, JsonObject[string], JsonObject]>([
    ['text', 'pics/a.png', { mime_type: 'image/png', legacy: { path: 'pics/a.png' } }],
    [
      'path',
      { path: 'pics/a.png', alt: 'x' },
      { alt: 'x', mime_type: 'image/png', legacy: { path: 'pics/a.png' } },
    ],
    ['file', { file: 'pics/a.png', media_type: 'image/x' }, { file: 'pics/a.png', mime_type: 'image/x' }],
    ['url', { url: 'pics/a.png' }, { url: 'pics/a.png', mime_type: 'image/png' }],
    ['unknown type', 'pics/raw', { legacy: { path: 'pics/raw' } }],
  ])('a file by %s', (_, asset, expected) => {
    const { item, files } = upgrade({ assets: [asset] }, [], ['pics/a.png', 'pics/raw']);
    expect(item).toEqual({ assets: [expected] });
    expect([...files.keys()]).toEqual(['/assets/0']);
  });

  it.each<[string, JsonObject[string], object]>([
    [
      'a file that is not there',
      'pics/b.png',
      {
        code: 'package_missing_file',
        entry: 'pics/b.png',
        location: { file: 'data/s.jsonl', line: 3, path: '/assets/0' },
      },
    ],
    ...(['path', 'file', 'src', 'href', 'url', 'uri', 'filename'] as const).map(
      (key): [string, JsonObject[string], object] => [
        `a ${key} that no file has`,
        { alt: 'x', [key]: 'pics/b.png' },
        {
          code: 'package_missing_file',
          entry: 'pics/b.png',
          location: { file: 'data/s.jsonl', line: 3, path: `/assets/0/${key}` },
        },
      ],
    ),
    [
      'a path that is a file: URL',
      { path: 'file:///home/me/b.png' },
      {
        code: 'package_missing_file',
        entry: 'file:///home/me/b.png',
        location: { file: 'data/s.jsonl', line: 3, path: '/assets/0/path' },
      },
    ],
    [
      'base64 that is none',
      { base64: '!' },
      { code: 'package_invalid_line', location: { file: 'data/s.jsonl', line: 3, path: '/assets/0/base64' } },
    ],
    [
      'a broken data: URI',
      'data:image/png;base64',
      { code: 'package_invalid_line', location: { file: 'data/s.jsonl', line: 3, path: '/assets/0/url' } },
    ],
  ])('refuses %s', (_, asset, error) => {
    expect(() => upgrade({ assets: [asset] })).toThrow(expect.objectContaining(error));
  });
});

it('changes no item whose line is kept as it is written', () => {
  const value = fc.constantFrom<JsonValue>(
    'x',
    1,
    1.5,
    null,
    [],
    ['x'],
    {},
    { prompt: 'P', text: 'T', user: 'U' },
  );
  const anyOf = (...keys: readonly string[]): fc.Arbitrary<JsonObject> =>
    fc.dictionary(fc.constantFrom(...keys, 'other'), value, { maxKeys: 3, noNullPrototype: true });
  const messages = fc.constantFrom<JsonValue>(
    [{ role: 'system', content: 'S' }],
    [{ role: 'user', content: 'U' }],
  );
  const legacy = fc
    .tuple(
      anyOf('id', 'type', 'answer', 'criteria', 'assets', 'tags', ...LEGACY_KEYS.item),
      fc.record(
        {
          inputs: fc.tuple(anyOf('prompt', 'system_prompt', 'choices', ...LEGACY_KEYS.inputs), messages),
          checker: anyOf('type', 'path', 'encoding', ...LEGACY_KEYS.checker),
          meta: anyOf('judge_prompt', 'system_prompt'),
        },
        { requiredKeys: [], noNullPrototype: true },
      ),
      fc.boolean(),
    )
    .map(([item, { inputs, ...parts }, hasMessages]): JsonObject => {
      const [own, conversation] = inputs ?? [undefined, null];
      const whole = own && hasMessages ? { ...own, messages: conversation } : own;
      return { ...item, ...parts, ...(whole && { inputs: whole }) } as JsonObject;
    });
  const plain = new PlainLineCollector(LEGACY_KEYS);
  let kept = 0;
  fc.assert(
    fc.property(legacy, (item) => {
      if (!plain.add(Buffer.from(JSON.stringify(item)), 100, 1e6)) return;
      const { bytes, itemHashes } = plain.take();
      kept += 1;
      const upgraded = upgrade(item);
      expect(upgraded.changes).toEqual([]);
      expect(Buffer.from(bytes).toString()).toBe(`${canonicalJson(parseItem(upgraded.item))}\n`);
      expect(Buffer.from(encodeItem(upgraded.item).itemHash)).toEqual(Buffer.from(itemHashes));
    }),
    { numRuns: times(2000, 400) },
  );
  expect(kept).toBeGreaterThan(times(20, 3));
});
