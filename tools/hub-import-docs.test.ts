import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseSplit, resolveSplit } from '../packages/hub-client/src/splits/split-slice.ts';
import { canonicalJson, type JsonObject, parseJson } from '../packages/jsonl-v23/src/json/index.ts';
import { compileMapping } from '../packages/jsonl-v23/src/mapping.ts';
import { toImportRequest } from '../packages/service/src/flows/requests.ts';

const page = readFileSync(new URL('../docs/hub-import.md', import.meta.url), 'utf8');

describe('docs/hub-import.md', () => {
  const sizes = [
    { name: 'train', numRows: 1000 },
    { name: 'test', numRows: 10 },
  ];
  const table = /\n\| expression \|.*\n\|[-|]+\|\n((?:\|.*\n)+)/.exec(page)?.[1] ?? '';
  const rows = [...table.matchAll(/^\| `(.*)` \| (.*) \|$/gm)].map(([, split = '', means = '']) => [
    split,
    means,
  ]);

  it('has a table of split expressions', () => {
    expect(rows.length).toBe(table.trim().split('\n').length);
    expect(rows.length).toBeGreaterThan(10);
  });

  it.each(rows)('says of %s: %s', (expression = '', means) => {
    const resolve = () =>
      resolveSplit(parseSplit(expression), sizes)
        .map(({ split, from, to }) => `${split} ${from} to ${to}`)
        .join(', ');
    if (means === 'refused') expect(resolve).toThrow(expect.objectContaining({ code: 'invalid_split' }));
    else expect(resolve()).toBe(means);
  });

  it('shows a row, a mapping and the item that they make', () => {
    const [row, mappingAsSent, item] = [...page.matchAll(/```json\n(.*)\n```/g)].map(
      ([, text = '']) => parseJson(text) as JsonObject,
    );
    expect(item).toBeDefined();
    const { mapping } = toImportRequest({ name: 'x', config: { path: 'a/b' }, mapping: mappingAsSent! });
    const features = Object.keys(row!).map((name) => ({ name, dtype: 'json' }));
    expect(canonicalJson(compileMapping(mapping, features)(row!, 7, 'test'))).toBe(canonicalJson(item!));
    expect(page).toContain(`\n${canonicalJson(item!)}\n`);
  });

  const tables = page.slice(page.indexOf("\n## Differences from the hub's own loader\n"));
  const compared = [...tables.matchAll(/^\| (?!-)(.*) \|$/gm)]
    .map(([, row = '']) => row.split(' | '))
    .filter((cells) => cells.at(-1) !== 'test');

  it('lists each difference from the loader once, with its test', () => {
    expect(compared.length).toBe((tables.match(/^\|/gm)?.length ?? 0) - 2);
    expect(new Set(compared.map(([name]) => name)).size).toBe(compared.length);
    expect(compared.length).toBeGreaterThan(40);
  });

  it.each(compared.map((cells) => [cells[0] ?? '', cells.at(-1) ?? '']))(
    'names a test that runs, for %s',
    (_, test) => {
      const [, title = '', file = ''] =
        /^\[(.+)\]\(\.\.\/(packages\/[a-z-]+\/(?:src|test)\/\S+\.test\.ts)\)$/.exec(test) ?? [];
      expect(file, test).not.toBe('');
      const source = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
      // The title of a test, of a group, or of a case that a title is made of.
      const titles = source.match(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g) ?? [];
      expect(titles.some((text) => text.includes(title))).toBe(true);
      expect(source).not.toMatch(/\.(?:skip|todo|only|skipIf|runIf)\((?!IS_LONG)/);
    },
  );
});
