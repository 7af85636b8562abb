import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { toImportRequest } from '../packages/flows/src/requests.ts';
import { parseSplit, resolveSplit } from '../packages/hub-client/src/splits/split-slice.ts';
import { compileMapping } from '../packages/jsonl-v23/src/index.ts';
import { canonicalJson, type JsonObject, parseJson } from '../packages/jsonl-v23/src/json/index.ts';

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

  it.each([
    ['CSV numbers that lose their spelling', 'hub-client/test/read-dataset.test.ts', 'with a warning'],
    ['CRCs of Parquet pages', 'tabular/test/page-crc.test.ts', 'are refused with a wrong CRC'],
    ['two Parquet columns of one name', 'tabular/test/odd-writers.test.ts', 'two columns of one name'],
    ['Parquet columns of type VARIANT', 'tabular/test/variant.test.ts', 'VARIANT columns of DuckDB'],
    ['NaN and infinities in JSON files', 'tabular/src/text/read-json.test.ts', 'NaN and infinities as null'],
  ])('lists a difference that is tested: %s', (row, file, title) => {
    expect(page).toContain(`\n| ${row} |`);
    expect(readFileSync(new URL(`../packages/${file}`, import.meta.url), 'utf8')).toContain(title);
  });
});
