import { describe, expect, it } from 'vitest';
import { parseYaml } from './parse-yaml.ts';
import { parseYamlApart } from './parse-yaml-apart.ts';

const parse = (text: string): unknown => parseYaml(text, { file: 'README.md', firstLine: 2 });

describe('parseYaml', () => {
  it.each([
    ['a: 1\nb: [x, "y", null, true, 1.5]', { a: 1, b: ['x', 'y', null, true, 1.5] }],
    ['split: no\nyear: 2020-01-01', { split: 'no', year: '2020-01-01' }],
    ["names:\n  '0': neg\n  1: pos", { names: { 0: 'neg', 1: 'pos' } }],
    ['base: &b {x: 1}\nd:\n  <<: *b\n  y: 2', { base: { x: 1 }, d: { x: 1, y: 2 } }],
    ['', null],
  ])('%j', (text, value) => {
    expect(parse(text)).toEqual(value);
  });

  it('keeps __proto__ as data', () => {
    expect(Object.keys(parse('__proto__: {polluted: 1}') as object)).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it.each([
    ['a: [1, 2', 2],
    ['ok: 1\na: "\\q"', 3],
    ['a: 1\nb: 2\na: 3', 4],
    ['x:\n  - {k: 1, k: 2}', 3],
  ])('refuses %j and names the line', (text, line) => {
    expect(() => parse(text)).toThrow(
      expect.objectContaining({ code: 'hub_unsupported_dataset', location: { file: 'README.md', line } }),
    );
  });

  it.each([
    ['deep nesting', `a: ${'['.repeat(100_000)}`],
    [
      'an alias bomb',
      `a: &a [1,1,1,1]\n${[...'bcdefgh'].map((k, i) => `${k}: &${k} [${`*${'abcdefgh'[i]},`.repeat(20)}]`).join('\n')}`,
    ],
    ['too many entries', `a: [${'1,'.repeat(51_000)}]`],
    ['entries that are nested too deeply for what reads them', `a: ${'['.repeat(70)}${']'.repeat(70)}`],
    ['too much text', `a: ${'x'.repeat(5_000_000)}`],
  ])('refuses %s', (_, text) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ code: 'hub_unsupported_dataset' }));
  });
});

describe('parseYamlApart', () => {
  const long = (count: number): string =>
    `configs:\n${Array.from({ length: count }, (_, n) => `- config_name: c${n}\n  data_files: d${n}/*.csv\n`).join('')}`;

  it('parses as parseYaml does, without blocking other work', async () => {
    const text = long(20_000);
    let turns = 0;
    const timer = setInterval(() => turns++, 5);
    const value = await parseYamlApart(text, { file: 'README.md' });
    clearInterval(timer);
    expect(value).toEqual(parseYaml(text, { file: 'README.md' }));
    // Parsing takes the better part of a second; on this thread, no timer would have had a turn.
    expect(turns).toBeGreaterThan(5);
  });

  it('refuses with the same error', async () => {
    const text = `${long(1000)}- config_name: [\n`;
    await expect(parseYamlApart(text, { file: 'README.md', firstLine: 2 })).rejects.toMatchObject({
      code: 'hub_unsupported_dataset',
      location: { file: 'README.md', line: expect.any(Number) },
    });
  });

  it('takes a failure of the thread for a fault of this program, and not of the card', async () => {
    process.once('worker', (thread) => void thread.terminate());
    const fault = await parseYamlApart(long(1000), { file: 'README.md' }).catch((error: unknown) => error);
    expect(fault).toEqual(new Error('The thread that parses YAML has died.'));
    await expect(parseYamlApart(long(1000), { file: 'README.md' })).resolves.toBeDefined();
  });

  it('refuses a card of 190,000 entries before it is parsed', async () => {
    // A parser would stop at the bracket.
    const text = `configs:\n${'- a: 1\n  b: 2\n'.repeat(95_000)}- [\n`;
    await expect(parseYamlApart(text, { file: 'README.md' })).rejects.toThrow(
      'Cannot read the metadata: it has more than 50000 entries.',
    );
  });
});
