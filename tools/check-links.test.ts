import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anchorsOf, deadLinks, linksOf, markdownFiles } from './check-links.ts';

describe('anchorsOf', () => {
  it.each<[markdown: string, anchors: string[]]>([
    ['# Hello, World!', ['hello-world']],
    ['## `svc-pkg`, the command line', ['svc-pkg-the-command-line']],
    ['## 4xx: a + b ##', ['4xx-a--b']],
    ['# Same\n\n## Same\n\n### Same', ['same', 'same-1', 'same-2']],
    ['# A [link](x.md) in it', ['a-link-in-it']],
    ['# Über_maß', ['über_maß']],
    ['| <a id="package_limit"></a>`package_limit` |', ['package_limit']],
    ['```sh\n# a comment\n```\n\n    # code\n\n# Real', ['real']],
    ['#hashtag', []],
  ])('%j', (markdown, anchors) => {
    expect([...anchorsOf(markdown)]).toEqual(anchors);
  });
});

describe('linksOf', () => {
  it.each<[markdown: string, targets: string[]]>([
    ['[a](b.md) and ![c](d.png "title") and [e](<f g.md>)', ['b.md', 'd.png', 'f g.md']],
    ['[`code`](x.md#y)', ['x.md#y']],
    ['[a](wiki_(b).md)', ['wiki_(b).md']],
    ['[a][b]\n\n[b]: c.md', ['c.md']],
    ['<a href="x.md">x</a><img src="y.png">', ['x.md', 'y.png']],
    ['`[no](link.md)` and ``[no](`link`.md)``', []],
    ['```md\n[no](link.md)\n```\n[yes](z.md)', ['z.md']],
    ['text\n    [yes, no code block](z.md)', ['z.md']],
  ])('%j', (markdown, targets) => {
    expect(linksOf(markdown).map(({ target }) => target)).toEqual(targets);
  });

  it('reports the line', () => {
    expect(linksOf('one\n\n```\n\n```\n[a](b)')).toEqual([{ target: 'b', line: 6 }]);
  });
});

describe('deadLinks', () => {
  const root = mkdtempSync(join(tmpdir(), 'svc-links-'));
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  beforeAll(() => {
    write('README.md', '# Top\n');
    write('docs/a page.md', '# There it is\n');
    write('docs/code.ts', '');
    write('node_modules/x/README.md', '[dead](nowhere)');
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  it.each<[link: string, reason: string | null]>([
    ['../README.md', null],
    ['../README.md#top', null],
    ['a%20page.md#there-it-is', null],
    ['#here', null],
    ['code.ts#L7', null],
    ['..', null],
    ['https://example.org/nowhere#nothing', null],
    ['mailto:team@example.org', null],
    ['https://github.com/svc-data/svc/blob/main/README.md#top', null],
    ['https://github.com/svc-data/svc/blob/main/docs/none.md', 'no such file'],
    ['https://github.com/svc-data/svc/blob/main/README.md#bottom', 'no such anchor'],
    ['../README.md#bottom', 'no such anchor'],
    ['#there', 'no such anchor'],
    ['none.md', 'no such file'],
    ['/README.md', 'not relative'],
    ['../../outside.md', 'leaves the repository'],
    ['%zz.md', 'not a valid address'],
  ])('%s: %s', (link, reason) => {
    write('docs/index.md', `# Here\n\n[link](${link})\n`);
    const dead = deadLinks(root, ['docs/index.md']);
    expect(dead).toEqual(reason === null ? [] : [`docs/index.md:3: ${reason}: ${link}`]);
  });

  it('finds the files of the repository only', () => {
    write('docs/index.md', '');
    expect(markdownFiles(root).sort()).toEqual(['README.md', 'docs/a page.md', 'docs/index.md']);
  });
});

describe('this repository', () => {
  it('has no broken link', () => {
    const root = fileURLToPath(new URL('..', import.meta.url));
    const files = markdownFiles(root);
    expect(files).toContain('README.md');
    expect(files).toContain(join('docs', 'errors.md'));
    expect(deadLinks(root, files)).toEqual([]);
  });

  it('has every page of docs in its reading order', () => {
    const docs = fileURLToPath(new URL('../docs', import.meta.url));
    const named = linksOf(readFileSync(join(docs, 'README.md'), 'utf8')).map(({ target }) => target);
    const pages = readdirSync(docs).filter((name) => name.endsWith('.md') && name !== 'README.md');
    expect(pages.filter((page) => !named.includes(page))).toEqual([]);
  });
});
