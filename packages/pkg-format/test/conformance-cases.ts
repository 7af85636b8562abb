import { createHash } from 'node:crypto';
import type { PackageErrorCode } from '../src/errors.ts';
import type { PackageLimits } from '../src/limits.ts';
import {
  buildZip,
  extraField,
  pack,
  unicodePathField,
  type ZipEntrySpec,
  type ZipSpec,
} from './build-zip.ts';

/** What both readers must say of an archive. */
type Expectation =
  | { sections: { name: string; items: number }[]; ignored?: string[]; scores?: (number | null)[] }
  | { code: PackageErrorCode; entry?: string; location?: Record<string, unknown> };

export interface ConformanceCase {
  /** The file's name without `.zip`. */
  name: string;
  archive: ZipSpec;
  limits?: Partial<PackageLimits>;
  expect: Expectation;
}

const section = (content = '{"id":1}\n', name = 'sections/a.jsonl'): ZipEntrySpec => ({ name, content });
const file = (name: string, content: string): ZipEntrySpec => ({ name, content });
const of = (...entries: ZipEntrySpec[]): ZipSpec => ({ entries });
/** As many files of a megabyte expand too much, if each deflates to a thousandth. */
const MEGABYTES = Array.from({ length: 66 }, (_, index) => `assets/${10 + index}`);
const oneSection = { sections: [{ name: 'a', items: 1 }] };
const sha256 = (content: string): string => createHash('sha256').update(content).digest('hex');
const manifest = (value: unknown): ZipEntrySpec => file('manifest.json', JSON.stringify(value));

export const VALID: ConformanceCase[] = [
  { name: 'plain', archive: of(section()), expect: oneSection },
  { name: 'stored', archive: of({ ...section(), method: 'stored' }), expect: oneSection },
  { name: 'empty-section', archive: of(section('')), expect: { sections: [{ name: 'a', items: 0 }] } },
  {
    name: 'empty-section-deflated',
    archive: of({ ...section(''), method: 'deflated' }),
    expect: { sections: [{ name: 'a', items: 0 }] },
  },
  {
    name: 'lines-bom-crlf-blank-no-last-newline',
    archive: of(section('\ufeff{"id":1}\r\n\r\n \t\n{"id":2}')),
    expect: { sections: [{ name: 'a', items: 2 }] },
  },
  {
    name: 'file-of-many-items',
    archive: of(section('{"assets":["assets/x"]}\n'.repeat(100)), file('assets/x', 'x'.repeat(1024 * 1024))),
    expect: { sections: [{ name: 'a', items: 100 }] },
  },
  {
    name: 'section-order-by-utf8-bytes',
    archive: of(
      section('{}', 'sections/\u{1f600}.jsonl'),
      section('{}', 'sections/\uff5e.jsonl'),
      section('{}\n{}', 'sections/a.jsonl'),
      section('{}', 'sections/B.jsonl'),
    ),
    expect: {
      sections: [
        { name: 'B', items: 1 },
        { name: 'a', items: 2 },
        { name: '\uff5e', items: 1 },
        { name: '\u{1f600}', items: 1 },
      ],
    },
  },
  {
    name: 'run-with-members-of-later-versions',
    archive: of(
      section('{"id":1}\n{"id":2}\n'),
      file('run_config.json', '{"provider":{"type":"of a later version"},"member_of_a_later_version":[{}]}'),
      file(
        'results.jsonl',
        [
          {
            ...{
              section: 'a',
              order_index: 0,
              status: 'ok',
              output: 'x',
              score: 0.5,
              passed: true,
              error: null,
            },
            ...{ member_of_a_later_version: { deep: [1, null, 'x'] }, another: 1e300 },
          },
          {
            ...{ section: 'a', order_index: 1, status: 'failed', output: null, score: null, passed: null },
            error: { code: 'x', message: 'y', member_of_a_later_version: [] },
          },
        ]
          .map((line) => `${JSON.stringify(line)}\n`)
          .join(''),
      ),
    ),
    expect: { sections: [{ name: 'a', items: 2 }], scores: [0.5, null] },
  },
  {
    name: 'top-folder',
    archive: of(
      { name: 'my data/' },
      section(undefined, 'my data/sections/a.jsonl'),
      file('my data/meta.json', '{}'),
    ),
    expect: oneSection,
  },
  {
    name: 'top-folder-with-junk-files',
    archive: of(
      file('.DS_Store', 'x'),
      { name: 'p/' },
      file('p/.DS_Store', 'x'),
      { name: 'p/sections/' },
      section(undefined, 'p/sections/a.jsonl'),
      file('__MACOSX/p/sections/._a.jsonl', 'x'),
    ),
    expect: { ...oneSection, ignored: [] },
  },
  {
    name: 'top-folder-named-sections',
    archive: of(section(undefined, 'sections/sections/a.jsonl')),
    expect: oneSection,
  },
  {
    name: 'top-folder-named-data',
    archive: of(section(undefined, 'data/sections/a.jsonl'), file('data/x.jsonl', '{}')),
    expect: { ...oneSection, ignored: ['x.jsonl'] },
  },
  {
    name: 'dot-slash-names',
    archive: of({ name: './' }, section(undefined, './sections/a.jsonl')),
    expect: oneSection,
  },
  {
    name: 'ignored-entries-are-named',
    archive: of(
      section(),
      file('README.md', '# hi'),
      file('sections/notes.txt', 'x'),
      file('data/x.jsonl', '{}'),
    ),
    expect: { ...oneSection, ignored: ['README.md', 'sections/notes.txt', 'data/x.jsonl'] },
  },
  {
    name: 'descriptors-of-all-forms',
    archive: of(
      { ...section('{}', 'sections/a.jsonl'), descriptor: 'plain' },
      { ...section('{}', 'sections/b.jsonl'), descriptor: 'signed' },
      { ...section('{}', 'sections/c.jsonl'), descriptor: 'zip64' },
      { ...section('{}', 'sections/d.jsonl'), descriptor: 'zip64-signed', zip64: true },
      { ...section('{}', 'sections/e.jsonl'), descriptor: 'signed', descriptorAndSizes: true },
      {
        ...section('{}', 'sections/f.jsonl'),
        descriptor: 'zip64-signed',
        localZip64: true,
        method: 'stored',
      },
    ),
    expect: { sections: ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => ({ name, items: 1 })) },
  },
  { name: 'zip64-entry', archive: of({ ...section(), zip64: true }), expect: oneSection },
  { name: 'zip64-local-only', archive: of({ ...section(), localZip64: true }), expect: oneSection },
  { name: 'zip64-end-record', archive: { ...of(section()), zip64: true }, expect: oneSection },
  {
    name: 'zip64-end-record-extensible',
    archive: { ...of(section()), zip64: true, zip64Patch: { extensible: 12 } },
    expect: oneSection,
  },
  {
    name: 'zip64-end-record-with-true-32-bit-fields',
    archive: { ...of(section()), zip64: true, entryCount: 1 },
    expect: oneSection,
  },
  {
    name: 'foreign-extra-fields',
    archive: of({
      ...section(),
      extra: Buffer.concat([
        extraField(0x5455, [3, 1], [0, 4]),
        extraField(0x7875, [1, 1], [4, 1]),
        new Uint8Array(3),
      ]),
      comment: 'a comment',
    }),
    expect: oneSection,
  },
  { name: 'archive-comment', archive: { ...of(section()), comment: 'made by hand' }, expect: oneSection },
  {
    name: 'unix-modes',
    archive: of({ ...section(), mode: 0o100644 }, { name: 'assets/', mode: 0o40755 }),
    expect: oneSection,
  },
  {
    name: 'folder-by-attribute-only',
    archive: of(section(), { name: 'assets', dosAttributes: 0x10 }),
    expect: oneSection,
  },
  {
    name: 'directory-order-differs',
    archive: { ...of(section('{}', 'sections/b.jsonl'), section()), directoryOrder: [1, 0] },
    expect: {
      sections: [
        { name: 'a', items: 1 },
        { name: 'b', items: 1 },
      ],
    },
  },
  {
    name: 'name-utf8-without-flag',
    archive: of({ ...section(undefined, 'sections/é.jsonl'), flags: 0 }),
    expect: { sections: [{ name: 'é', items: 1 }] },
  },
  {
    name: 'name-by-unicode-path',
    archive: of({
      ...section(),
      name: pack('sections/caf', [0x82, 1], '.jsonl'),
      flags: 0,
      extra: unicodePathField(pack('sections/caf', [0x82, 1], '.jsonl'), 'sections/café.jsonl'),
    }),
    expect: { sections: [{ name: 'café', items: 1 }] },
  },
  {
    name: 'unicode-path-of-another-name',
    archive: of({ ...section(), extra: unicodePathField('older.jsonl', 'sections/other.jsonl') }),
    expect: oneSection,
  },
  {
    name: 'unicode-path-of-another-version',
    archive: of({ ...section(), extra: extraField(0x7075, [2, 1], [0, 4], 'x') }),
    expect: oneSection,
  },
  {
    name: 'manifest-names-sections',
    archive: of(
      manifest({
        format: 'svc-pkg',
        sections: [
          { name: 'train/en', file: 'sections/0-train%2Fen.jsonl' },
          { name: 'a', file: 'sections/1-a.jsonl' },
        ],
      }),
      section('{}', 'sections/1-a.jsonl'),
      section('{}', 'sections/0-train%2Fen.jsonl'),
    ),
    expect: {
      sections: [
        { name: 'train/en', items: 1 },
        { name: 'a', items: 1 },
      ],
    },
  },
  {
    name: 'foreign-manifest-binds-nothing',
    archive: of(
      manifest({
        version_hash: 'abc',
        sections: [{ name: 'x', file: 'sections/b.jsonl' }],
        files: [{ path: 'elsewhere', sha256: '0'.repeat(64) }],
      }),
      section(),
    ),
    expect: oneSection,
  },
  {
    name: 'foreign-manifest-with-any-name',
    archive: of(manifest({ name: 'a\nb' }), section()),
    expect: oneSection,
  },
  {
    name: 'checksums-are-true',
    archive: of(
      manifest({ files: [{ path: 'sections/a.jsonl', bytes: 9, sha256: sha256('{"id":1}\n') }] }),
      section(),
    ),
    expect: oneSection,
  },
  {
    name: 'assets-and-checkers',
    archive: of(
      section(
        '{"assets":{"x":"assets/x.txt","y":{"path":"assets/deep/y"}},"checker":{"path":"checkers/c.py"}}',
      ),
      file('assets/x.txt', 'hello'),
      file('assets/deep/y', ''),
      file('checkers/c.py', 'pass'),
    ),
    expect: oneSection,
  },
  {
    name: 'assets-with-content-or-link-and-another-path',
    archive: of(
      section(
        '{"assets":{"x":{"path":"images/x.png","url":"https://example.org/x.png"},"y":{"path":"/home/me/y","data":""}}}',
      ),
    ),
    expect: oneSection,
  },
  {
    name: 'asset-name-decomposed',
    archive: of(section('{"assets":["assets/é.txt"]}'), file('assets/e\u0301.txt', 'hello')),
    expect: oneSection,
  },
  {
    name: 'ratio-below-first-mebibyte',
    archive: of(section(`${' '.repeat(1_000_000)}\n{"id":1}\n`)),
    expect: oneSection,
  },
];

const corrupt = (name: string, archive: ZipSpec, entry?: string): ConformanceCase => ({
  name: `package_corrupt--${name}`,
  archive,
  expect: { code: 'package_corrupt', ...(entry !== undefined && { entry }) },
});
const unsafe = (name: string, archive: ZipSpec, entry?: string): ConformanceCase => ({
  name: `package_unsafe_entry--${name}`,
  archive,
  expect: { code: 'package_unsafe_entry', ...(entry !== undefined && { entry }) },
});
const unsupported = (name: string, archive: ZipSpec, entry?: string): ConformanceCase => ({
  name: `package_unsupported--${name}`,
  archive,
  expect: { code: 'package_unsupported', ...(entry !== undefined && { entry }) },
});
const badLine = (
  name: string,
  content: string | Uint8Array,
  location: Record<string, unknown>,
): ConformanceCase => ({
  name: `package_invalid_line--${name}`,
  archive: of(section(), { name: 'sections/b.jsonl', content }),
  expect: {
    code: 'package_invalid_line',
    entry: 'sections/b.jsonl',
    location: { file: 'sections/b.jsonl', ...location },
  },
});
const badJson = (
  name: string,
  path: string,
  content: string | Uint8Array,
  location: Record<string, unknown>,
): ConformanceCase => ({
  name: `package_invalid_json--${name}`,
  archive: of(section(), { name: path, content }),
  expect: { code: 'package_invalid_json', entry: path, location: { file: path, ...location } },
});
const A = 'sections/a.jsonl';
const outsideAsset = (name: string, entry: unknown, path: string): ConformanceCase => ({
  name: `package_missing_file--${name}`,
  archive: of(section(`{}\n${JSON.stringify({ assets: { x: entry } })}\n`), file('images/x.png', 'png')),
  expect: { code: 'package_missing_file', location: { file: A, line: 2, path } },
});
const long = section(`{"text":"${'words and more words '.repeat(50)}"}\n`);
const incompressible = section(`{"text":"${sha256('a')}${sha256('b')}${sha256('c')}"}\n`);

export const INVALID: ConformanceCase[] = [
  {
    name: 'package_not_a_zip--empty',
    archive: { ...of(section()), truncateTo: 0 },
    expect: { code: 'package_not_a_zip' },
  },
  {
    name: 'package_not_a_zip--text',
    archive: { entries: [], prefix: pack('just some text, not a ZIP archive'), truncateTo: 33 },
    expect: { code: 'package_not_a_zip' },
  },
  { name: 'package_no_sections--empty-archive', archive: of(), expect: { code: 'package_no_sections' } },
  {
    name: 'package_no_sections--other-files',
    archive: of(file('meta.json', '{}'), file('a.jsonl', '{}')),
    expect: { code: 'package_no_sections' },
  },
  {
    name: 'package_no_sections--two-top-folders',
    archive: of(section(undefined, 'p/sections/a.jsonl'), section(undefined, 'q/sections/a.jsonl')),
    expect: { code: 'package_no_sections' },
  },

  corrupt('cut-off-in-data', { ...of(long), truncateTo: 60 }),
  corrupt('cut-off-in-directory', { ...of(section()), truncateTo: 90 }),
  corrupt('cut-off-in-end-record', { ...of(section()), truncateTo: -5 }),
  corrupt('bytes-before-shifted', { ...of(section()), prefix: pack('#!/bin/sh\n') }),
  corrupt('bytes-before-foreign', { ...of(section()), prefix: pack('#!/bin/sh\n'), prefixIsForeign: true }),
  corrupt('bytes-before-empty-archive', { ...of(), prefix: pack('hello') }),
  corrupt('bytes-after', { ...of(section()), suffix: pack('more') }),
  corrupt('comment-too-long', { ...of(section()), comment: 'hello', commentLength: 3 }),
  corrupt('comment-too-short', { ...of(section()), comment: 'hello', commentLength: 9 }),
  corrupt('two-end-records', {
    ...of(section()),
    comment: pack([0x06054b50, 4], new Uint8Array(18)),
  }),
  corrupt(
    'gap-between-entries',
    of({ ...section(), gap: pack('zzz') }, section('{}', 'sections/b.jsonl')),
    A,
  ),
  corrupt('gap-before-directory', of({ ...section(), gap: pack('zzz') }), A),
  corrupt('entry-not-listed', of(section(), { ...section('{}', 'sections/b.jsonl'), unlisted: true }), A),
  corrupt(
    'first-entry-not-listed',
    of({ ...section('{}', 'sections/b.jsonl'), unlisted: true }, section()),
    A,
  ),
  corrupt('count-too-low', { ...of(section(), section('{}', 'sections/b.jsonl')), entryCount: 1 }),
  corrupt('count-too-high', { ...of(section()), entryCount: 2 }),
  corrupt('counts-differ', { ...of(section()), entryCountHere: 0 }),
  corrupt('directory-size-too-small', { ...of(section()), directorySize: 40 }),
  corrupt('directory-size-too-big', { ...of(section()), directorySize: 4000 }),
  corrupt('directory-offset-wrong', { ...of(section()), directoryOffset: 3 }),
  corrupt('zip64-count-contradicts', { ...of(section()), zip64: true, entryCount: 2 }),
  corrupt('zip64-count-wrong', { ...of(section()), zip64: true, zip64Patch: { count: 2 } }),
  corrupt('zip64-locator-wrong', { ...of(section()), zip64: true, zip64Patch: { recordShift: -4 } }),
  corrupt('zip64-locator-far-away', { ...of(section()), zip64: true, zip64Patch: { recordShift: 2 ** 40 } }),
  corrupt('zip64-offset-wrong', { ...of(section()), zip64: true, zip64Patch: { offset: 1 } }),
  corrupt('zip64-offset-huge', { ...of(section()), zip64: true, zip64Patch: { offset: 2 ** 60 } }),
  corrupt('offset-wrong', of({ ...section(), offsetShift: 1 }), A),
  corrupt('offset-beyond', of({ ...section(), offsetShift: 100_000 }), A),
  corrupt(
    'overlap-shared-data',
    of(section(), { ...section('{"id":1}\n', 'sections/b.jsonl'), sharesDataWith: 0 }),
  ),
  corrupt(
    'overlap-by-size',
    of({ ...long, compressedSize: 90, local: { compressedSize: 90 } }, section('{}', 'sections/b.jsonl')),
    A,
  ),
  corrupt('overlap-directory', of({ ...section(), method: 'stored', size: 40, compressedSize: 40 }), A),
  corrupt('local-name', of({ ...section(), local: { name: 'sections/b.jsonl' } }), A),
  corrupt('local-name-shorter', of({ ...section(), local: { name: 'sections/a.json' } }), A),
  corrupt(
    'local-unicode-path',
    of({ ...section(), local: { extra: unicodePathField(A, 'sections/b.jsonl') } }),
    A,
  ),
  corrupt('local-method', of({ ...section(), local: { methodId: 0 } }), A),
  corrupt('local-flags', of({ ...section(), local: { flags: 0x8 } }), A),
  corrupt('local-encryption-flag', of({ ...section(), local: { flags: 0x1 } }), A),
  corrupt('local-crc', of({ ...section(), local: { crc32: 1 } }), A),
  corrupt('local-crc-zero-without-descriptor', of({ ...section(), local: { crc32: 0 } }), A),
  corrupt('local-size', of({ ...section(), local: { size: 1 } }), A),
  corrupt('local-compressed-size', of({ ...section(), local: { compressedSize: 1 } }), A),
  corrupt('local-signature', of({ ...section(), local: { signature: 0x04034b51 } }), A),
  corrupt('descriptor-missing', of({ ...section(), descriptor: new Uint8Array(0) }), A),
  corrupt('descriptor-too-long', of({ ...section(), descriptor: new Uint8Array(17) }), A),
  corrupt(
    'descriptor-differs',
    of({ ...section(), descriptor: pack([0x08074b50, 4], [1, 4], [9, 4], [9, 4]) }),
    A,
  ),
  corrupt(
    'zip64-field-missing',
    of({ ...section(), method: 'stored', compressedSize: 0xffffffff, size: 0xffffffff }),
    A,
  ),
  corrupt('zip64-field-too-short', of({ ...section(), size: 0xffffffff, extra: extraField(1, [9, 4]) }), A),
  corrupt(
    'extra-field-too-long',
    of({ ...section(), centralExtra: pack([0x5455, 2], [6, 2], [3, 1], [0, 4]) }),
    A,
  ),
  corrupt('extra-field-without-space', of({ ...section(), centralExtra: pack([0x9999, 2], [1, 2]) }), A),
  corrupt('zip64-field-twice', of({ ...section(), zip64: true, centralExtra: extraField(1, [9, 8]) }), A),
  corrupt('stored-sizes-differ', of({ ...section(), method: 'stored', size: 8 }), A),
  corrupt(
    'folder-with-content',
    of(section(), { name: 'assets/', content: 'x', method: 'stored' }),
    'assets/',
  ),
  corrupt('crc-wrong', of({ ...section(), crc32: 1 }), A),
  corrupt('crc-wrong-stored', of({ ...section(), method: 'stored', crc32: 1 }), A),
  corrupt('size-too-small', of({ ...section(), size: 8 }), A),
  corrupt('size-too-big', of({ ...section(), size: 10 }), A),
  corrupt('size-zero', of({ ...section(), size: 0 }), A),
  corrupt('deflate-broken', of({ ...section(), packed: new Uint8Array([0xff, 0xff, 0xff]) }), A),
  corrupt('deflate-empty', of({ ...section(), packed: new Uint8Array(0) }), A),
  corrupt(
    'deflate-cut-off',
    of({ ...incompressible, packed: pack([1, 1], [201, 2], [0xffff - 201, 2], 'short') }),
    A,
  ),
  corrupt(
    'deflate-without-end',
    of({ ...section('ab'), packed: pack([0, 1], [2, 2], [0xfffd, 2], 'ab') }),
    A,
  ),
  corrupt(
    'deflate-followed-by-bytes',
    of({ ...section('ab'), packed: pack([1, 1], [2, 2], [0xfffd, 2], 'ab', 'zz') }),
    A,
  ),
  corrupt(
    'damaged-line',
    of({ ...section('{"id":1}\n{"id":2}\n'), method: 'stored', packed: pack('{"id":1}\n{"id;2}\n') }),
    A,
  ),
  corrupt('manifest-crc', of({ ...manifest({}), crc32: 5 }, section()), 'manifest.json'),
  {
    ...corrupt('asset-crc', of(section('{"assets":["assets/x"]}'), { ...file('assets/x', 'x'), crc32: 5 })),
    expect: { code: 'package_corrupt', entry: 'assets/x', location: { file: A, line: 1, path: '/assets/0' } },
  },

  unsafe('parent', of(section(), file('../x', 'x')), '../x'),
  unsafe('parent-inside', of(section(), file('assets/../../x', 'x'))),
  unsafe('absolute', of(section(), file('/etc/x', 'x'))),
  unsafe('drive', of(section(), file('C:x', 'x'))),
  unsafe('backslash', of(section(undefined, 'sections\\a.jsonl'))),
  unsafe('nul', of(section(), file('assets/a\0b', 'x'))),
  unsafe('empty-name', of(section(), file('', 'x'))),
  unsafe('empty-part', of(section(), file('assets//x', 'x'))),
  unsafe('dot-part', of(section(), file('assets/./x', 'x'))),
  unsafe(
    'not-utf8',
    of({ ...section(), name: pack('sections/caf', [0xe9, 1], '.jsonl') }),
    'sections/caf\\xe9.jsonl',
  ),
  unsafe(
    'not-utf8-without-flag',
    of({ ...section(), name: pack('sections/caf', [0xe9, 1], '.jsonl'), flags: 0 }),
  ),
  unsafe('overlong-utf8', of({ ...section(), name: pack('sections/', [0xc0, 1], [0xaf, 1], '.jsonl') })),
  unsafe(
    'second-name',
    of({ ...section(), flags: 0x800, extra: unicodePathField(A, 'sections/b.jsonl') }),
    A,
  ),
  unsafe(
    'unicode-path-parent',
    of({ ...section(), flags: 0, extra: unicodePathField(A, '../b.jsonl') }),
    '../b.jsonl',
  ),
  unsafe('same-name', of(section(), section('{}')), A),
  unsafe('same-name-by-case', of(section(), section('{}', 'Sections/A.jsonl'))),
  unsafe('same-name-by-nfc', of(section('{}', 'sections/é.jsonl'), section('{}', 'sections/e\u0301.jsonl'))),
  unsafe(
    'same-name-by-folding',
    of(section('{}', 'sections/straße.jsonl'), section('{}', 'sections/STRASSE.jsonl')),
  ),
  unsafe('file-and-folder', of(section(), file('assets/x', 'x'), { name: 'assets/x/' })),
  unsafe('symlink', of(section(), { ...file('assets/x', '/etc/passwd'), mode: 0o120777 }), 'assets/x'),
  unsafe('device', of(section(), { ...file('assets/x', ''), mode: 0o20644 }), 'assets/x'),

  unsupported(
    'nested-section',
    of(section(), section('{}', 'sections/deep/b.jsonl')),
    'sections/deep/b.jsonl',
  ),
  unsupported('encrypted', of({ ...section(), flags: 1 }), A),
  unsupported('strong-encryption', of({ ...section(), flags: 0x41 }), A),
  unsupported('masked-header', of({ ...section(), flags: 0x2000 }), A),
  unsupported('patch-data', of({ ...section(), flags: 0x20 }), A),
  unsupported('method-bzip2', of({ ...section(), methodId: 12 }), A),
  unsupported(
    'method-zstd-in-ignored-file',
    of(section(), { ...file('README', 'x'), methodId: 93 }),
    'README',
  ),
  unsupported('split-archive', { ...of(section()), disk: 1 }),
  unsupported('split-archive-entry', of({ ...section(), disk: 2 })),

  badLine('malformed-on-line-7', '{}\n{}\n\n{}\n{}\n{}\n{"a": nul}\n', { line: 7, column: 7 }),
  badLine('not-an-object', '{}\n[1]\n', { line: 2 }),
  badLine('repeated-key', '{"a":1,"a":2}', { line: 1 }),
  badLine('wrong-type', '{}\n{"inputs":{"prompt":1}}', { line: 2, path: '/inputs/prompt' }),
  badLine('invalid-utf8', pack('{}\n{"a":"', [0xff, 1], '"}'), { line: 2 }),
  badLine('nesting', `${'['.repeat(300)}${']'.repeat(300)}`, { line: 1 }),
  badLine('reference-leaves-folder', '{}\n{"checker":{"path":"checkers/../manifest.json"}}', {
    line: 2,
    path: '/checker/path',
  }),
  badLine('form-feed-line', '{}\n\f\n', { line: 2 }),

  badJson('manifest', 'manifest.json', '{\n  "format": "svc-pkg",\n  "name": x\n}', { line: 3, column: 11 }),
  badJson('manifest-array', 'manifest.json', '[]', {}),
  badJson('meta-null', 'meta.json', 'null', {}),
  badJson('meta-empty', 'meta.json', '', {}),
  badJson('meta-utf8', 'meta.json', pack('{\n"a":"', [0xff, 1], '"}'), { line: 2 }),
  badJson('meta-repeated-key', 'meta.json', '{"a":1,\n"a":2}', { line: 2 }),
  {
    name: 'package_invalid_json--manifest-names-twice',
    archive: of(
      manifest({
        format: 'svc-pkg',
        sections: [
          { name: 'x', file: 'sections/a.jsonl' },
          { name: 'x', file: 'sections/b.jsonl' },
        ],
      }),
      section(),
      section('{}', 'sections/b.jsonl'),
    ),
    expect: {
      code: 'package_invalid_json',
      entry: 'manifest.json',
      location: { file: 'manifest.json', path: '/sections' },
    },
  },

  {
    name: 'package_missing_file--asset',
    archive: of(section('{}\n{"assets":{"pic":{"path":"assets/x.png"}}}')),
    expect: {
      code: 'package_missing_file',
      entry: 'assets/x.png',
      location: { file: A, line: 2, path: '/assets/pic' },
    },
  },
  outsideAsset('asset-in-another-folder', { path: 'images/x.png' }, '/assets/x'),
  outsideAsset('asset-in-the-root', { path: 'x.png', url: null }, '/assets/x'),
  outsideAsset('asset-with-a-file-url', { path: 'file:///etc/passwd' }, '/assets/x'),
  outsideAsset('asset-with-an-absolute-path', { path: '/etc/passwd' }, '/assets/x/path'),
  outsideAsset('asset-out-of-the-archive', { path: 'images/../../x.png' }, '/assets/x/path'),
  {
    name: 'package_missing_file--checker',
    archive: of(section('{"checker":{"path":"checkers/x.py"}}')),
    expect: {
      code: 'package_missing_file',
      entry: 'checkers/x.py',
      location: { file: A, line: 1, path: '/checker' },
    },
  },
  badJson(
    'manifest-name-with-control-character',
    'manifest.json',
    '{"format":"svc-pkg","name":"a\\u0007b"}',
    {
      path: '/name',
    },
  ),
  {
    ...badJson('section-name-with-control-character', 'manifest.json', '', { path: '/sections/0/name' }),
    archive: of(
      manifest({ format: 'svc-pkg', sections: [{ name: 'a\u0007b', file: 'sections/a.jsonl' }] }),
      section(),
    ),
  },
  unsafe(
    'section-file-with-control-character',
    of(section(undefined, 'sections/a\u0007b.jsonl')),
    'sections/a\u0007b.jsonl',
  ),
  badJson('manifest-name-not-a-string', 'manifest.json', '{"format":"svc-pkg","name":7}', { path: '/name' }),
  {
    name: 'package_missing_file--section-of-manifest',
    archive: of(
      manifest({ format: 'svc-pkg', sections: [{ name: 'b', file: 'sections/b.jsonl' }] }),
      section(),
    ),
    expect: {
      code: 'package_missing_file',
      entry: 'sections/b.jsonl',
      location: { file: 'manifest.json', path: '/sections/0/file' },
    },
  },
  {
    name: 'package_missing_file--file-of-manifest',
    archive: of(
      manifest({ format: 'svc-pkg', files: [{ path: 'assets/x', bytes: 1, sha256: '0'.repeat(64) }] }),
      section(),
    ),
    expect: {
      code: 'package_missing_file',
      entry: 'assets/x',
      location: { file: 'manifest.json', path: '/files/0/path' },
    },
  },

  {
    name: 'package_hash_mismatch--version',
    archive: of(manifest({ hash_spec: 'svc-jcs-sha256-1', version_hash: '0'.repeat(64) }), section()),
    expect: {
      code: 'package_hash_mismatch',
      entry: 'manifest.json',
      location: { file: 'manifest.json', path: '/version_hash' },
    },
  },
  {
    name: 'package_hash_mismatch--section',
    archive: of(
      manifest({
        format: 'svc-pkg',
        hash_spec: 'svc-jcs-sha256-1',
        sections: [{ name: 'a', file: A, item_count: 1, section_hash: '0'.repeat(64) }],
      }),
      section(),
    ),
    expect: {
      code: 'package_hash_mismatch',
      entry: 'manifest.json',
      location: { file: 'manifest.json', path: '/sections/0/section_hash' },
    },
  },
  {
    name: 'package_hash_mismatch--item-count',
    archive: of(
      manifest({
        format: 'svc-pkg',
        hash_spec: 'svc-jcs-sha256-1',
        sections: [{ name: 'a', file: A, item_count: 2 }],
      }),
      section(),
    ),
    expect: {
      code: 'package_hash_mismatch',
      entry: 'manifest.json',
      location: { file: 'manifest.json', path: '/sections/0/item_count' },
    },
  },
  {
    name: 'package_hash_mismatch--section-file',
    archive: of(manifest({ files: [{ path: A, sha256: '0'.repeat(64) }] }), section()),
    expect: {
      code: 'package_hash_mismatch',
      entry: A,
      location: { file: 'manifest.json', path: '/files/0/sha256' },
    },
  },
  {
    name: 'package_hash_mismatch--file-size',
    archive: of(manifest({ files: [{ path: A, bytes: 3, sha256: sha256('{"id":1}\n') }] }), section()),
    expect: {
      code: 'package_hash_mismatch',
      entry: A,
      location: { file: 'manifest.json', path: '/files/0/bytes' },
    },
  },
  {
    name: 'package_hash_mismatch--unread-file',
    archive: of(
      manifest({ files: [{ path: 'results.jsonl', sha256: sha256('x') }] }),
      section(),
      file('results.jsonl', 'y'),
    ),
    expect: {
      code: 'package_hash_mismatch',
      entry: 'results.jsonl',
      location: { file: 'manifest.json', path: '/files/0/sha256' },
    },
  },

  {
    name: 'package_limit--entries',
    archive: of(section(), file('x', 'x'), file('y', 'y')),
    limits: { maxEntries: 2 },
    expect: { code: 'package_limit' },
  },
  {
    name: 'package_limit--line',
    archive: of(section('{}\n{"text":"0123456789"}\n{}')),
    limits: { maxLineBytes: 10 },
    expect: { code: 'package_limit', entry: A, location: { file: A, line: 2 } },
  },
  {
    name: 'package_limit--item-with-its-files',
    archive: of(
      section('{}\n{"assets":["assets/x","assets/x","assets/x"]}\n{}'),
      file('assets/x', 'x'.repeat(2000)),
    ),
    limits: { maxLineBytes: 8000 },
    expect: { code: 'package_limit', entry: A, location: { file: A, line: 2, path: '/assets/2' } },
  },
  {
    name: 'package_limit--archive-expansion-ratio',
    archive: of(
      section(MEGABYTES.map((name) => `{"assets":["${name}"]}\n`).join('')),
      ...MEGABYTES.map((name) => file(name, 'x'.repeat(1024 * 1024))),
    ),
    expect: { code: 'package_limit', entry: 'assets/73', location: { file: A, line: 64, path: '/assets/0' } },
  },
  {
    name: 'package_limit--total',
    archive: of(section('{"id":1}\n'.repeat(30)), section('{"id":1}\n'.repeat(30), 'sections/b.jsonl')),
    limits: { maxTotalBytes: 400 },
    expect: { code: 'package_limit', entry: 'sections/b.jsonl' },
  },
  {
    name: 'package_limit--asset',
    archive: of(section('{}\n{"assets":["assets/x"]}'), file('assets/x', 'x'.repeat(2000))),
    limits: { maxAssetBytes: 1999 },
    expect: { code: 'package_limit', entry: 'assets/x', location: { file: A, line: 2, path: '/assets/0' } },
  },
  {
    name: 'package_limit--asset-size-understated',
    archive: of(section('{}\n{"assets":["assets/x"]}'), {
      ...file('assets/x', 'x'.repeat(2000)),
      size: 5000,
    }),
    limits: { maxAssetBytes: 1999 },
    expect: { code: 'package_limit', entry: 'assets/x' },
  },
  {
    name: 'package_limit--expansion-ratio',
    archive: of(section(`${'\n'.repeat(1_500_000)}{}`)),
    expect: { code: 'package_limit', entry: A },
  },
  {
    name: 'package_limit--manifest',
    archive: of(manifest({ name: 'x'.repeat(100) }), section()),
    limits: { maxLineBytes: 100 },
    expect: { code: 'package_limit', entry: 'manifest.json' },
  },
];

/** The archive of a case. */
export function archiveOf({ archive }: ConformanceCase): Uint8Array {
  return buildZip(archive);
}
