import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const files = readdirSync(`${root}docs/decisions`).filter((name) => name.endsWith('.md'));

/** `packages/service/src/store/…`, `packages/…`, `apps/…`, `tools/…`, `conformance/…`: folders and files of this repository. */
const PATH = /`((?:prisma|packages|apps|tools|conformance)\/[\w./-]+)`/g;

describe.each(files)('docs/decisions/%s', (name) => {
  const text = readFileSync(`${root}docs/decisions/${name}`, 'utf8');

  it('has a state and a date', () => {
    expect(text.split('\n')[2]).toMatch(
      /^\*(?:Accepted, \d{4}-\d\d-\d\d|Replaced by \[[\w -]+\]\([\w-]+\.md\), \d{4}-\d\d-\d\d)\.\*$/,
    );
  });

  it('names paths that exist', () => {
    const paths = [...text.matchAll(PATH)].map(([, path = '']) => path);
    expect(paths.filter((path) => !existsSync(root + path))).toEqual([]);
  });
});
