import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import type { ZipSpec } from '../../pkg-format/test/build-zip.ts';
import { svcPkg } from './run-svc-pkg.ts';
import { temporaryFolder, writeArchive } from './temporary-folder.ts';

interface ReportDocument {
  ok: boolean;
  version_hash: string | null;
  item_count: number;
  error_count: number;
  style_count: number;
  counts: Record<string, number>;
  findings: Record<string, unknown>[];
}

type Files = Readonly<Record<string, string | Uint8Array>>;

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const manifest = (value: unknown): string => JSON.stringify(value);

/** Each diagnostic as its location and code. */
const CASES: readonly [name: string, files: Files, findings: readonly string[], spec?: Partial<ZipSpec>][] = [
  ['a valid package', { 'sections/a.jsonl': '{"id":1}\n{"id":2}\n' }, []],
  [
    'every faulty line of every section',
    {
      'sections/a.jsonl': '{"id":1}\n{"id":}\n\n[1]\n{"id":1,"id":2}\n{"id":3}',
      'sections/b.jsonl': 'nonsense\n{"inputs":{"prompt":5},"tags":[1]}\n{"id":1}\n',
    },
    [
      'sections/a.jsonl:2:7: package_invalid_line',
      'sections/a.jsonl:4:1: package_invalid_line',
      'sections/a.jsonl:5:9: package_invalid_line',
      'sections/b.jsonl:1:1: package_invalid_line',
      'sections/b.jsonl:2:21: package_invalid_line',
      'sections/b.jsonl:2:32: package_invalid_line',
    ],
  ],
  [
    'bytes that are not UTF-8, line for line',
    { 'sections/a.jsonl': Buffer.from('{"a":"\xff"}\n{"id":1}\n{"b":"\xc3\x28"}\n', 'latin1') },
    ['sections/a.jsonl:1:7: package_invalid_line', 'sections/a.jsonl:3:7: package_invalid_line'],
  ],
  [
    'each missing file that an item names',
    {
      'sections/a.jsonl':
        '{"assets":{"x":"assets/no.png","y":"assets/yes.png","z":{"path":"assets/never.png"}},"checker":{"path":"checkers/no.py"}}\n{"assets":["assets/../manifest.json"]}\n{"checker":{"path":"checkers/none"}}\n',
      'assets/yes.png': 'png',
    },
    [
      'sections/a.jsonl:1: package_missing_file',
      'sections/a.jsonl:1: package_missing_file',
      'sections/a.jsonl:1: package_missing_file',
      'sections/a.jsonl:2:12: package_invalid_line',
      'sections/a.jsonl:3: package_missing_file',
    ],
  ],
  [
    'an item that is too long with its files, and the next one',
    {
      'sections/a.jsonl': `{"id":1}\n${JSON.stringify({ assets: Array(48).fill('assets/x') })}\n[1]\n`,
      'assets/x': 'x'.repeat(1024 * 1024),
    },
    ['sections/a.jsonl:2: package_limit', 'sections/a.jsonl:3:1: package_invalid_line'],
  ],
  [
    'a section that is damaged, and the next one',
    { 'sections/b.jsonl': '{"id":1}\nx\n' },
    ['sections/a.jsonl: package_corrupt', 'sections/b.jsonl:2:1: package_invalid_line'],
    {
      entries: [
        { name: 'sections/a.jsonl', content: '{"id":1}\n', crc32: 1 },
        { name: 'sections/b.jsonl', content: '{"id":1}\nx\n' },
      ],
    },
  ],
  [
    'a damaged file once, though the manifest states its checksum',
    { 'sections/a.jsonl': '' },
    ['sections/a.jsonl: package_corrupt'],
    {
      entries: [
        {
          name: 'manifest.json',
          content: manifest({
            files: [{ path: 'sections/a.jsonl', bytes: 9, sha256: sha256('{"id":1}\n') }],
          }),
        },
        { name: 'sections/a.jsonl', content: '{"id":1}\n', crc32: 1 },
      ],
    },
  ],
  [
    'a version hash that the manifest states wrongly',
    {
      'manifest.json': manifest({
        format: 'svc-pkg',
        hash_spec: 'svc-jcs-sha256-1',
        version_hash: 'f'.repeat(64),
      }),
      'sections/a.jsonl': '{"id":1}\n',
    },
    ['manifest.json: package_hash_mismatch'],
  ],
  [
    'only the line where the manifest states the hash of what cannot be read',
    {
      'manifest.json': manifest({ hash_spec: 'svc-jcs-sha256-1', version_hash: 'f'.repeat(64) }),
      'sections/a.jsonl': '{"id":1\n',
    },
    ['sections/a.jsonl:1:8: package_invalid_line'],
  ],
  [
    'everything that the manifest states otherwise',
    {
      'manifest.json': manifest({
        format: 'svc-pkg',
        hash_spec: 'svc-jcs-sha256-1',
        version_hash: 'f'.repeat(64),
        sections: [
          { name: 'a', file: 'sections/a.jsonl', item_count: 2, section_hash: 'e'.repeat(64) },
          { name: 'b', file: 'sections/b.jsonl', item_count: 1 },
        ],
        files: [
          { path: 'assets/a.txt', bytes: 2, sha256: sha256('a') },
          { path: 'assets/b.txt', bytes: 1, sha256: sha256('c') },
          { path: 'assets/gone.txt', bytes: 1, sha256: sha256('g') },
        ],
      }),
      'sections/a.jsonl': '{"id":1}\n',
      'sections/b.jsonl': '{"id":2}\n',
      'assets/a.txt': 'a',
      'assets/b.txt': 'b',
    },
    [
      'manifest.json: package_hash_mismatch',
      'manifest.json: package_hash_mismatch',
      'manifest.json: package_hash_mismatch',
      'manifest.json: package_hash_mismatch',
      'manifest.json: package_hash_mismatch',
      'manifest.json: package_missing_file',
    ],
  ],
  [
    'a checksum of a file that no item names',
    {
      'manifest.json': manifest({ files: [{ path: 'assets/a.txt', bytes: 1, sha256: sha256('b') }] }),
      'sections/a.jsonl': '{"id":1}\nx',
      'assets/a.txt': 'a',
    },
    ['sections/a.jsonl:2:1: package_invalid_line', 'manifest.json: package_hash_mismatch'],
  ],
  [
    'the files of a run',
    {
      'sections/a.jsonl': '{"id":1}\n',
      'results.jsonl': '{"section":"a","order_index":0,"status":"ok"}\n{"status":\n[]\n',
      'run_config.json': '{\n  "model": x\n}',
    },
    [
      'results.jsonl:2:11: package_invalid_line',
      'results.jsonl:3:1: package_invalid_line',
      'run_config.json:2:12: package_invalid_json',
    ],
  ],
  [
    'a valid run',
    {
      'manifest.json': manifest({ format: 'svc-pkg', run: { name: 'r', status: 'completed', results: 1 } }),
      'sections/a.jsonl': '{"id":1}\n',
      'results.jsonl':
        '{"section":"a","order_index":0,"item_id":1,"repetition":1,"status":"ok","score":1,"passed":true}\n',
      'run_config.json': '{"repetitions":1}',
    },
    [],
  ],
  [
    'results of no item, and a run that cannot be imported',
    {
      'manifest.json': manifest({ format: 'svc-pkg', run: { name: 5, results: 3 } }),
      'sections/a.jsonl': '{"id":1}\n',
      'results.jsonl':
        '{"section":"b","order_index":0,"status":"ok"}\n{"section":"a","order_index":1,"status":"ok"}\n',
    },
    [
      'results.jsonl:1: package_invalid_line',
      'results.jsonl:2: package_invalid_line',
      'manifest.json: package_hash_mismatch',
      'manifest.json: package_invalid_json',
    ],
  ],
  [
    'a manifest that is not JSON',
    { 'manifest.json': '{', 'sections/a.jsonl': '{}' },
    ['manifest.json:1:2: package_invalid_json'],
  ],
  ['an archive without sections', { 'data.jsonl': '{}' }, ['<package>: package_no_sections']],
];

it.each(CASES)('reports %s', async (_name, files, expected, spec) => {
  const path = await writeArchive(files, spec);
  const outcome = await svcPkg(['check', path, '--json']);
  const report = outcome.document<ReportDocument>();
  const found = report.findings.map(
    ({ file = '<package>', line, column, code }) =>
      `${[file, line, column].filter((part) => part !== undefined).join(':')}: ${code}`,
  );
  expect(found.map((line) => line.replace(path, '<package>'))).toEqual(expected);
  expect(report).toMatchObject({
    ok: expected.length === 0,
    error_count: expected.length,
    style_count: 0,
    version_hash: expected.length === 0 ? expect.stringMatching(/^[0-9a-f]{64}$/) : null,
  });
  expect(outcome).toMatchObject({ exitCode: expected.length === 0 ? 0 : 1, stderr: '' });
});

it('prints file:line:column: message (code), with the JSON Pointer', async () => {
  const path = await writeArchive({
    'sections/a.jsonl': '{"id":1}\n{"inputs":{"prompt":"a" "b"}}\n{"assets":{"x":"assets/no.png"}}\n',
  });
  const { exitCode, stdout } = await svcPkg(['check', path]);
  expect(exitCode).toBe(1);
  const [first, second, ...facts] = stdout.trimEnd().split('\n');
  expect(first).toMatch(
    /^\/.+\/sample\.pkg\.zip!\/sections\/a\.jsonl:2:25: .+ at \/inputs \(package_invalid_line\)$/,
  );
  expect(second).toMatch(/!\/sections\/a\.jsonl:3: .+ at \/assets\/x \(package_missing_file\)$/);
  expect(facts).toEqual([`package  ${path}`, 'read     2 items in 1 section', 'found    2 errors']);
});

it('prints the version hash of a valid package', async () => {
  const path = await writeArchive({ 'sections/a.jsonl': '{"id":1}\n' });
  const { stdout } = await svcPkg(['check', path]);
  const hash = (await svcPkg(['hash', path])).stdout.trim();
  expect(stdout).toContain(`found         0 errors\nversion hash  ${hash}\n`);
});

it('shows a thousand diagnostics of a code and counts the rest', async () => {
  const path = await writeArchive({
    'sections/a.jsonl': 'x\n'.repeat(2500),
    'sections/b.jsonl': '{"assets":["assets/a"]}',
  });
  const report = (await svcPkg(['check', '--json', path])).document<ReportDocument>();
  expect(report.counts).toEqual({ package_invalid_line: 2500, package_missing_file: 1 });
  expect(report.findings).toHaveLength(1001);
  expect(report.error_count).toBe(2501);
  const { stdout } = await svcPkg(['check', path]);
  expect(stdout).toContain('\n... and 1500 more (package_invalid_line)\n');
  expect(stdout.split('\n').length).toBeLessThan(1010);
});

const STYLE: readonly [name: string, line: string, codes: readonly string[]][] = [
  [
    'canonical lines',
    '{"id":1,"inputs":{"prompt":"p"}}\n{"id":2,"inputs":{"prompt":"p"},"type":"exact"}\n',
    [],
  ],
  ['a byte order mark', '\ufeff{"id":1,"inputs":{"prompt":"p"}}\n', ['style_byte_order_mark:1']],
  [
    'CR LF, once',
    '{"id":1,"inputs":{"prompt":"p"}}\r\n{"id":2,"inputs":{"prompt":"p"}}\r\n',
    ['style_crlf:1'],
  ],
  [
    'blank lines',
    '{"id":1,"inputs":{"prompt":"p"}}\n\n \t\n{"id":2,"inputs":{"prompt":"p"}}\n',
    ['style_blank_line:2', 'style_blank_line:3'],
  ],
  [
    'no line end at the end',
    '{"id":1,"inputs":{"prompt":"p"}}\n{"id":2,"inputs":{"prompt":"p"}}',
    ['style_no_final_newline:2'],
  ],
  [
    'white space, key order and number spelling',
    '{"id":1,"inputs":{"prompt":"p"}, "type":"exact"}\n{"type":"exact","id":2,"inputs":{"prompt":"p"}}\n{"id":3,"inputs":{"prompt":"p"},"meta":{"n":1.0}}\n',
    ['style_not_canonical:1', 'style_not_canonical:2', 'style_not_canonical:3'],
  ],
  ['short forms of assets', '{"assets":["https://example.org/a.png"],"id":1}\n', ['style_not_canonical:1']],
  ['missing ids', '{"inputs":{"prompt":"p"},"type":"exact"}\n', ['style_missing_id:1']],
  [
    'repeated ids',
    '{"id":1,"inputs":{"prompt":"p"}}\n{"id":"1","inputs":{"prompt":"p"}}\n{"id":1,"inputs":{"prompt":"p"}}\n',
    ['style_duplicate_id:3'],
  ],
  ['unknown types', '{"id":1,"inputs":{"prompt":"p"},"type":"free-form"}\n', ['style_unknown_type:1']],
  [
    'items without a prompt',
    '{"foo":1,"id":1}\n{"id":2,"inputs":{"messages":[{"content":"p","role":"user"}]}}\n{"id":3,"inputs":{"messages":[]}}\n',
    ['style_no_prompt:1', 'style_no_prompt:3'],
  ],
  ['a section without items', '', ['style_empty_section:']],
];

it.each(STYLE)('reports style: %s', async (_name, content, expected) => {
  const path = await writeArchive({ 'sections/a.jsonl': content });
  const strict = await svcPkg(['check', '--strict', '--json', path]);
  const report = strict.document<ReportDocument>();
  expect(report.findings.map(({ code, line = '' }) => `${code}:${line}`).sort()).toEqual(
    [...expected].sort(),
  );
  expect(report).toMatchObject({
    error_count: 0,
    style_count: expected.length,
    version_hash: expect.any(String),
  });
  expect(strict.exitCode).toBe(expected.length === 0 ? 0 : 1);
  expect(await svcPkg(['check', path])).toMatchObject({ exitCode: 0 });
});

it('reports an id that is in two sections, and ignored files', async () => {
  const path = await writeArchive({
    'sections/a.jsonl': '{"id":"x","inputs":{"prompt":"p"}}\n',
    'sections/b.jsonl': '{"id":"x","inputs":{"prompt":"p"}}\n',
    'notes.txt': 'hello',
    'README.md': '# For people',
    LICENSE: 'MIT',
  });
  const { stdout } = await svcPkg(['check', '--strict', path]);
  expect(stdout).toContain('sections/b.jsonl:1: Duplicate id "x" at /id (style_duplicate_id)\n');
  expect(stdout).toMatch(/!\/notes\.txt: .+ \(style_ignored_entry\)$/m);
  expect(stdout).toContain('found         0 errors, 2 style findings\n');
});

it('names files that no item refers to, if every line could be read', async () => {
  const files = {
    'sections/a.jsonl': '{"id":1,"assets":{"x":"assets/é.png"},"checker":{"path":"checkers/used.py"}}\n',
    'assets/é.png': 'png',
    'assets/unused.png': 'png',
    'checkers/used.py': '',
    'checkers/unused.py': '',
  };
  const unused = async (more: Files = {}): Promise<unknown[]> => {
    const path = await writeArchive({ ...files, ...more });
    const { findings }: ReportDocument = JSON.parse(
      (await svcPkg(['check', '--strict', '--json', path])).stdout,
    );
    return findings.filter(({ code }) => code === 'style_unused_file').map(({ file }) => file);
  };
  expect(await unused()).toEqual(['assets/unused.png', 'checkers/unused.py']);
  expect(await unused({ 'sections/b.jsonl': 'x\n' })).toEqual([]);
});

it('escapes control sequences for terminals', async () => {
  const path = await writeArchive({
    'sections/\u001b[2Ja\u202e.jsonl': '{"\u001b[31m":}\n{"id":1,"type":"\u009b31m"}\n',
    'x\u0007.txt': '',
  });
  for (const argv of [
    ['check', '--strict', path],
    ['inspect', path],
    ['hash', path],
  ]) {
    const { stdout, stderr } = await svcPkg(argv);
    expect(stdout + stderr).toMatch(/\\u00/);
    expect(stdout + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  }
});

it.each([
  ['that does not exist', 'missing.zip', /no such file or folder \(io_error\)/],
  ['below a file', 'package.json/a.pkg.zip', /part of the path is not a folder/],
])('ends with exit code 3 for a file %s', async (_name, path, message) => {
  const outcome = await svcPkg(['check', path]);
  expect(outcome).toMatchObject({ exitCode: 3, stdout: '' });
  expect(outcome.stderr).toMatch(message);
  expect((await svcPkg(['check', path, '--json'])).error()).toMatchObject({
    code: 'io_error',
    exit_code: 3,
    file: path,
  });
});

it('stops with the reason of its signal', async () => {
  const path = await writeArchive({ 'sections/a.jsonl': '{"id":1}\n'.repeat(1000) });
  const reason = Object.assign(new Error('Interrupted'), { code: 'interrupted' });
  const outcome = await svcPkg(['check', path], { signal: AbortSignal.abort(reason) });
  expect(outcome).toMatchObject({
    exitCode: 130,
    stdout: '',
    stderr: 'svc-pkg: Interrupted (interrupted)\n',
  });
});

it.each([[['check', '-']], [['run', '7e0f6c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d', '--config', '-']]])(
  'stops while standard input is silent: %j',
  async (argv) => {
    const stopping = new AbortController();
    const reason = Object.assign(new Error('Interrupted'), { code: 'interrupted' });
    const stdin = new Readable({ read: () => stopping.abort(reason) });
    const outcome = await svcPkg(argv, { stdin, signal: stopping.signal });
    expect(outcome).toMatchObject({ exitCode: 130, stderr: 'svc-pkg: Interrupted (interrupted)\n' });
  },
);

it('checks the files of a folder', async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'sections'));
  await writeFile(join(folder, 'sections/a.jsonl'), '{"id":1}\n{"id":}\n{"id":1.5}\n');
  const outcome = await svcPkg(['check', folder]);
  expect(outcome.exitCode).toBe(1);
  const file = join(folder, 'sections/a.jsonl');
  expect(outcome.stdout).toContain(`${file}:2:7: `);
  expect(outcome.stdout).toContain(`${file}:3:7: /id must be a string or an integer`);
  expect(outcome.stdout).toContain('found   2 errors\n');
  await writeFile(file, '{"id":1}\n');
  expect(await svcPkg(['check', folder])).toMatchObject({ exitCode: 0 });
});

it('checks a JSON Lines file', async () => {
  const path = join(await temporaryFolder(), 'items.jsonl');
  await writeFile(path, '{"id":1}\n{"id":}\n\n{"id":1}');
  const outcome = await svcPkg(['check', path]);
  expect(outcome.exitCode).toBe(1);
  expect(outcome.stdout).toContain(`${path}:2:7: `);
  expect(outcome.stdout).toContain('read   2 items\nfound  1 error\n');
  const strict = (await svcPkg(['check', '--strict', '--json', path])).document<ReportDocument>();
  expect(strict).toMatchObject({ ok: false, error_count: 1 });
  expect(strict.findings.map(({ code }) => code)).toEqual(
    expect.arrayContaining(['style_blank_line', 'style_duplicate_id', 'style_no_final_newline']),
  );
});

it('prints only findings with --quiet', async () => {
  const bad = await writeArchive({ 'sections/a.jsonl': '{"id":}\n' });
  const good = await writeArchive({ 'sections/a.jsonl': '{"id":1}\n' });
  expect((await svcPkg(['check', '-q', bad])).stdout).toMatch(/^[^\n]+:1:7: [^\n]+\n$/);
  expect(await svcPkg(['check', '-q', good])).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
  expect(await svcPkg(['check', '-q', await writeArchive({ 'data.jsonl': '{}' })])).toMatchObject({
    exitCode: 1,
    stdout: expect.not.stringContaining('svc-pkg convert'),
  });
});

it('mentions the run that a package holds, as inspect does', async () => {
  const path = await writeArchive({
    'manifest.json': manifest({ format: 'svc-pkg', run: { name: 'r', status: 'completed', results: 1 } }),
    'sections/a.jsonl': '{"id":1}\n',
    'results.jsonl':
      '{"section":"a","order_index":0,"item_id":1,"repetition":1,"status":"ok","score":1,"passed":true}\n',
    'run_config.json': '{"repetitions":1}',
  });
  const run = { id: null, name: 'r', status: 'completed', result_count: 1 };
  for (const command of ['check', 'inspect']) {
    expect((await svcPkg([command, path])).stdout).toMatch(/^run +r, completed, 1 result$/m);
    expect((await svcPkg(['--json', command, path])).document()).toMatchObject({ run });
  }
  const without = await writeArchive({ 'sections/a.jsonl': '{"id":1}\n' });
  expect((await svcPkg(['--json', 'check', without])).document()).toMatchObject({ run: null });
});
