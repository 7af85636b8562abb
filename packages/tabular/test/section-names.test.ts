import { expect, it } from 'vitest';
import { sectionNames } from '../src/sections/table-file.ts';

it('leaves out the format and the compression of every name that a reader knows', () => {
  const names = ['a.csv', 'b.pq', 'c.jsonlines', 'd.json.gzip', 'e.TXT.ZST', 'f.tsv.gz', 'g.v2', 'h.gz'];
  expect(sectionNames(names)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g.v2', 'h']);
});
