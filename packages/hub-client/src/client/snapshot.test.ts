import { describe, expect, it } from 'vitest';
import { parseDatasetCard } from './snapshot.ts';

describe('parseDatasetCard', () => {
  it.each([
    ['no file', null, null, {}],
    ['no front matter', '# Title\n---\na: 1\n---\n', null, {}],
    ['an empty front matter', '---\n---\ntext', null, {}],
    ['a front matter', '---\na: 1\nb: x\n---\n# Title\n---\n', null, { a: 1, b: 'x' }],
    ['CRLF and a byte order mark', '\uFEFF---\r\na: 1\r\n---\r\ntext', null, { a: 1 }],
    ['the last line without its end', '---\na: 1\n---', null, { a: 1 }],
    ['one that is never closed', '---\na: 1\n', null, {}],
    ['dashes inside a text', '---\na: |\n  x\n  ----\n---\n', null, { a: 'x\n----\n' }],
    ['an override', '---\na: 1\nb: 2\n---\n', 'b: 3\nc: 4\n', { a: 1, b: 3, c: 4 }],
    ['only an override', null, 'c: 4\n', { c: 4 }],
  ])('reads %s', async (_, readme, yaml, card) => {
    expect(await parseDatasetCard(readme, yaml)).toEqual(card);
  });

  it.each([
    ['---\n- a\n---\n', null, 'README.md'],
    ['---\na: 1\n---\n', 'text', '.huggingface.yaml'],
  ])('refuses what is not a map', async (readme, yaml, file) => {
    await expect(parseDatasetCard(readme, yaml)).rejects.toThrow(
      expect.objectContaining({ code: 'hub_unsupported_dataset', location: { file } }),
    );
  });

  it('names the line of the file', async () => {
    await expect(parseDatasetCard('---\na: 1\nb: [\n---\n')).rejects.toThrow(
      expect.objectContaining({ location: expect.objectContaining({ file: 'README.md' }) }),
    );
  });
});
