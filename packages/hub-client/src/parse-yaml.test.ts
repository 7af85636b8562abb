import { describe, expect, it } from 'vitest';
import { parseYaml } from './parse-yaml.ts';

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
      expect.objectContaining({ code: 'hub_unsupported_dataset', place: { file: 'README.md', line } }),
    );
  });

  it.each([
    ['deep nesting', `a: ${'['.repeat(100_000)}`],
    [
      'an alias bomb',
      `a: &a [1,1,1,1]\n${[...'bcdefgh'].map((k, i) => `${k}: &${k} [${`*${'abcdefgh'[i]},`.repeat(20)}]`).join('\n')}`,
    ],
    ['too many entries', `a: [${'1,'.repeat(300_000)}]`],
    ['too much text', `a: ${'x'.repeat(5_000_000)}`],
  ])('refuses %s', (_, text) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ code: 'hub_unsupported_dataset' }));
  });
});
