import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { openPackageFile } from '@svc/pkg-format/node';
import { writeParquet } from '@svc/tabular/write';
import { expect, it } from 'vitest';
import { startFakeHub } from '../../hub-client/test/fake-hub.ts';
import { captured, svcPkg } from './run-svc-pkg.ts';
import { temporaryFolder, writeArchive } from './temporary-folder.ts';

const PACKAGE = { 'sections/a.jsonl': '{"id":1}\n{"id":2}\n' };

it('seals an edited package, next to it or in its place, and prints what changed', async () => {
  const path = await writeArchive(PACKAGE, {}, 'edited.zip');
  const output = join(dirname(path), 'edited.pkg.zip');
  const first = await svcPkg(['seal', path, '--name', 'N']);
  const hash = (await svcPkg(['hash', output])).stdout.trim();
  expect(first).toMatchObject({
    exitCode: 0,
    stderr: '',
    stdout: `output        ${output}\nname          N\nversion hash  ${hash}\nitems         2 in 1 section\nfiles         1\n`,
  });
  expect(await svcPkg(['seal', output])).toMatchObject({
    exitCode: 3,
    stderr: `${output}: The file already exists; use --force to replace it (output_exists)\n`,
  });
  const again = await svcPkg(['seal', output, '-f', '--json']);
  expect(again.document()).toEqual({
    input: output,
    output,
    name: 'N',
    version_hash: hash,
    version_hash_before: hash,
    item_count: 2,
    sections: [{ name: 'a', file: 'sections/a.jsonl', item_count: 2 }],
    file_count: 1,
  });
  const out = captured();
  expect(await svcPkg(['seal', path, '--name', 'N', '-o', '-'], { stdout: out.stream })).toMatchObject({
    stderr: '',
  });
  expect(out.bytes().equals(await readFile(output))).toBe(true);
  const broken = await writeArchive({ 'sections/a.jsonl': '{"id":}\n{"id":1.5}\n' });
  expect(await svcPkg(['seal', broken, '-f'])).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/!\/sections\/a\.jsonl:1:7: .+\n.+!\/sections\/a\.jsonl:2:7: /),
  });
  expect(await svcPkg(['seal', join(dirname(path), 'none')])).toMatchObject({ exitCode: 3 });
  expect((await readdir(dirname(path))).sort()).toEqual(['edited.pkg.zip', 'edited.zip']);
});

it('builds a package from a hub dataset without a service', async () => {
  await using hub = await startFakeHub({
    id: 'o/d',
    files: {
      'train.jsonl':
        '{"q":"1+1?","a":"so 1+1\\n#### 2","l":"001"}\n{"q":"2+2?","a":"#### 4","l":"002"}\n{"q":"?","a":"none","l":"3"}\n',
    },
  });
  const folder = await temporaryFolder();
  const env = { HUB_ENDPOINT: hub.endpoint };
  const mapping = join(folder, 'mapping.json');
  const members = { prompt_column: 'x', answer_column: 'a', answer_pattern: '####\\s*(\\S+)' };
  await writeFile(mapping, JSON.stringify({ ...members, default_type: 'numeric' }));
  const output = join(folder, 'out.pkg.zip');
  const options = ['--name', 'N', '--local', '-o', output, '--mapping', mapping, '--prompt-column', 'q'];
  const refused = await svcPkg(['import-hub', 'o/d', ...options], { env });
  expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
  expect(refused.stderr).toContain('The answer pattern does not match in dataset row 2');
  expect(await readdir(folder)).toEqual(['mapping.json']);

  const more = ['--meta-columns', 'level=l', '--invalid-rows', 'skip', '--json'];
  const written = await svcPkg(['import-hub', 'o/d', ...options, ...more], { env });
  expect(written.stderr).toBe('');
  const { version_hash } = written.document<{ version_hash: string }>();
  expect(written.document()).toMatchObject({
    input: ['o/d'],
    output,
    item_count: 2,
    skipped_count: 1,
    sections: [{ name: 'default', item_count: 2 }],
  });
  expect((await svcPkg(['hash', output])).stdout).toBe(`${version_hash}\n`);
  await using pkg = await openPackageFile(output);
  const bytes = pkg.sections[0]?.bytes() ?? [];
  expect(Buffer.concat(await Array.fromAsync(bytes)).toString()).toBe(
    '{"answer":"2","id":"train-0","inputs":{"prompt":"1+1?"},"meta":{"level":"001"},"type":"numeric"}\n' +
      '{"answer":"4","id":"train-1","inputs":{"prompt":"2+2?"},"meta":{"level":"002"},"type":"numeric"}\n',
  );
  expect(pkg.meta?.['schema']).toMatchObject({
    source: 'hub',
    config: { path: 'o/d', subset: 'default', resolved_split: 'train' },
    mapping: { prompt_column: 'q', meta_columns: { level: 'l' }, invalid_rows: 'skip' },
    skipped: { count: 1, rows: [{ row: 2, message: 'The answer pattern does not match in dataset row 2' }] },
  });

  for (const [argv, message] of [
    [['--prompt-column', 'zz'], /Column zz not found/],
    [['--mapping', join(folder, 'none')], /no such file/],
    [['--mapping', output], /out\.pkg\.zip/],
    [['--prompt-column', 'q', '--answer-is', 'guess'], /answer_is must be one of text, index, letter/],
    [[], /--prompt-column/],
  ] as const) {
    const wrong = await svcPkg(['import-hub', 'o/d', '--name', 'N', '--local', '-f', '-o', output, ...argv], {
      env,
    });
    expect(wrong.exitCode).not.toBe(0);
    expect(wrong.stderr).toMatch(message);
  }
  expect((await svcPkg(['hash', output])).stdout).toBe(`${version_hash}\n`);
});

it('packs files as an upload does, previews them, and refuses what it cannot read', async () => {
  const folder = await temporaryFolder();
  const csv = join(folder, 'b.csv');
  await writeFile(csv, 'question,answer,level,code\n1+1?,2,easy,001\n"a ""b"",\nc",4,,002\n');
  await writeFile(join(folder, 'a.jsonl'), '{"question":"x","answer":"2","level":"easy","code":"001"}\n');
  const mapping = [
    '--prompt-column',
    'question',
    '--answer-column',
    'answer',
    '--meta-columns',
    'level',
    'code',
  ];
  const one = await svcPkg(['pack', csv, ...mapping, '--json']);
  expect(one.stderr).toBe('');
  const { version_hash } = one.document<{ version_hash: string }>();
  expect(one.document()).toMatchObject({
    output: join(folder, 'b.pkg.zip'),
    name: 'b',
    item_count: 2,
    sections: [{ name: 'default', item_count: 2 }],
  });
  expect((await svcPkg(['hash', join(folder, 'b.pkg.zip')])).stdout).toBe(`${version_hash}\n`);
  expect(one.document()).not.toHaveProperty('unused_columns');
  const few = await svcPkg(['pack', csv, '--prompt-column', 'question', '-o', join(folder, 'few.pkg.zip')]);
  expect(few.stdout).toMatch(/^not used +answer, level, code \(--keep-unmapped\)$/m);
  const unaskedItems = join(folder, 'unasked.jsonl');
  await writeFile(unaskedItems, '{"inputs":{"prompt":"p"}}\n{"inputs":{"x":1}}\n');
  const unasked = await svcPkg(['pack', unaskedItems]);
  expect(unasked.stdout).toMatch(/^warning +1 item has neither a prompt nor messages/m);
  await using pkg = await openPackageFile(join(folder, 'b.pkg.zip'));
  const bytes = pkg.sections[0]?.bytes() ?? [];
  expect(Buffer.concat(await Array.fromAsync(bytes)).toString()).toBe(
    '{"answer":2,"id":"default-0","inputs":{"prompt":"1+1?"},"meta":{"code":"001","level":"easy"},"type":"freeform"}\n' +
      '{"answer":4,"id":"default-1","inputs":{"prompt":"a \\"b\\",\\nc"},"meta":{"code":"002","level":""},"type":"freeform"}\n',
  );
  expect(pkg.meta?.['schema']).toMatchObject({
    source: 'file',
    files: [{ name: 'b.csv', format: 'csv', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }],
    features: { answer: 'int64', code: 'string' },
  });

  const output = join(await temporaryFolder(), 'all.pkg.zip');
  const all = await svcPkg(['pack', csv, join(folder, 'a.jsonl'), ...mapping, '-o', output, '--json']);
  expect(all.document()).toMatchObject({ sections: [{ name: 'a' }, { name: 'b' }], item_count: 3 });
  const items = join(folder, 'items.jsonl');
  await writeFile(items, '{"id":1,"inputs":{"prompt":"p"},"x":1.50}\n');
  const lines = await svcPkg(['pack', items, '-o', output, '-f', '--json']);
  expect(lines.document()).toMatchObject({ item_count: 1, sections: [{ name: 'default' }] });

  const preview = await svcPkg(['preview', csv]);
  expect(preview.stdout).toContain('suggested  --prompt-column question --answer-column answer');
  const shown = await svcPkg(['preview', csv, ...mapping, '--limit', '1', '--json']);
  expect(shown.document()).toMatchObject({
    kind: 'table',
    format: 'csv',
    features: [
      { name: 'question', dtype: 'string' },
      { dtype: 'int64' },
      {},
      { name: 'code', dtype: 'string' },
    ],
    items: [{ row: 0, item: { id: 'default-0', meta: { code: '001' } } }],
  });

  const legacy = await writeArchive({ 'a.jsonl': '{"id":1,"prompt":"p"}\n' }, {}, 'old.zip');
  const tables = await writeArchive({ 'x/b.csv': await readFile(csv, 'utf8'), 'c.csv': 'question\nz\n' });
  const rest = ['--prompt-column', 'question', '-o', output, '-f', '--json'];
  const zipped = await svcPkg(['pack', tables, join(folder, 'a.jsonl'), ...rest]);
  expect(zipped.document()).toMatchObject({
    item_count: 4,
    sections: [{ name: 'a' }, { name: 'c' }, { name: 'x/b' }],
  });
  await writeFile(join(folder, 'ragged.csv'), 'question,answer\nx,1\ny\nz,2\n');
  const skipping = await svcPkg(['pack', join(folder, 'ragged.csv'), ...rest, '--invalid-rows', 'skip']);
  expect(skipping.document()).toMatchObject({ item_count: 2, skipped_count: 1 });
  const parquet = join(folder, 't.parquet.gz');
  const rows = async function* () {
    yield [{ question: 'x' }];
  };
  const columns = [
    { name: 'question', type: 'string', json: (row: { question: string }) => row.question },
  ] as const;
  await writeFile(parquet, gzipSync(Buffer.concat(await Array.fromAsync(writeParquet(rows(), columns)))));
  expect((await svcPkg(['pack', parquet, ...rest])).document()).toMatchObject({ name: 't', item_count: 1 });

  await writeFile(join(folder, 'image.csv'), new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0]));
  await writeFile(join(folder, 'bad.jsonl'), '{"question":"x"}\n{"question":null}\n');
  for (const [argv, message] of [
    [[csv], /needs a mapping/],
    [[join(folder, 'image.csv')], /image\.csv: .*unsupported_file/],
    [
      [join(folder, 'b.pkg.zip')],
      /It is a package, not a file with a table.*\nWhat it contains: svc-pkg inspect/,
    ],
    [[legacy], /It is an archive of an older format.*\nTo turn it into a package: svc-pkg convert/],
    [
      [join(folder, 'bad.jsonl'), '--prompt-column', 'question'],
      /bad\.jsonl.*row 1: .*null.*\(invalid_row\)/,
    ],
    [[csv, '--prompt-column', 'q'], /Column q not found/],
    [[join(folder, 'none.csv'), ...mapping], /no such file/],
    [[csv, csv, ...mapping], /Two files would become the section "b"/],
  ] as const) {
    const wrong = await svcPkg(['pack', ...argv, '-f', '-o', output]);
    expect(wrong.exitCode).not.toBe(0);
    expect(wrong.stderr).toMatch(message);
  }
  expect((await svcPkg(['hash', output])).exitCode).toBe(0);
});

it('leaves control characters of file names out of the names of sections', async () => {
  const folder = join(await temporaryFolder(), 'files');
  await mkdir(folder);
  for (const name of ['a\tb.jsonl', 'c.jsonl']) await writeFile(join(folder, name), '{"inputs":{}}\n');
  const packed = await svcPkg(['pack', folder]);
  expect(packed.stderr).toBe('');
  const { stdout } = await svcPkg(['inspect', '--json', `${folder}.pkg.zip`]);
  expect(JSON.parse(stdout).sections).toMatchObject([{ name: 'ab' }, { name: 'c' }]);
});

it('reads archives of tables as an upload does', async () => {
  const lines = '{"prompt":"p","answer":"a"}\n';
  const older = await writeArchive({ 'train.jsonl': lines, 'test.jsonl': lines }, {}, 'older.zip');
  const mapping = ['--prompt-column', 'prompt', '-o', join(dirname(older), 'out.pkg.zip'), '-f', '--json'];
  expect((await svcPkg(['pack', older, ...mapping])).document()).toMatchObject({
    sections: [{ name: 'test' }, { name: 'train' }],
  });
  const repository = await writeArchive({
    'README.md': '# data\n',
    LICENSE: 'MIT\n',
    'data/a.csv': 'prompt,answer\np,a\n',
  });
  expect((await svcPkg(['pack', repository, ...mapping])).document()).toMatchObject({
    item_count: 1,
    sections: [{ name: 'default' }],
  });
  expect((await svcPkg(['preview', repository, '--json'])).document()).toMatchObject({
    kind: 'table',
    num_rows: 1,
    skipped_files: [
      { name: 'LICENSE', reason: 'it is documentation' },
      { name: 'README.md', reason: 'it is documentation' },
    ],
    info: {
      sections: [{ file: 'data/a.csv', section: 'default', format: 'csv' }],
    },
  });
});

it('passes over what is no table in a folder, and lists it', async () => {
  const folder = join(await temporaryFolder(), 'spark');
  await mkdir(folder);
  const files = { _SUCCESS: '', 'part-0.csv': 'prompt\np\n', 'run.sh': 'exit\n', 'notes.txt': 'note\n' };
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  const skipped = [
    { name: '_SUCCESS', reason: 'it is a mark of the tool that wrote the data' },
    { name: 'notes.txt', reason: 'it is plain text, and others are not' },
    { name: 'run.sh', reason: 'it is a program' },
  ];
  const options = ['--prompt-column', 'prompt', '-f'];
  const packed = await svcPkg(['pack', folder, ...options, '--json']);
  expect(packed.document()).toMatchObject({ item_count: 1, skipped_files: skipped });
  const { stdout } = await svcPkg(['pack', folder, ...options]);
  expect(stdout).toContain('passed over');
  const exported = await svcPkg(['inspect', '--json', `${folder}.pkg.zip`]);
  expect(exported.stdout).toContain('"skipped_files"');
  await rm(join(folder, 'part-0.csv'));
  await rm(join(folder, 'notes.txt'));
  const refused = await svcPkg(['pack', folder, ...options]);
  expect(refused.exitCode).not.toBe(0);
  expect(refused.stderr).toContain('it holds "_SUCCESS" (it is a mark');
});

it('reports every row and every column that an import from the hub would refuse', async () => {
  await using hub = await startFakeHub({
    id: 'o/d',
    files: { 'train.jsonl': '{"question":"x"}\n{"question":null}\n[]\n{"question":null}\n' },
  });
  const env = { HUB_ENDPOINT: hub.endpoint };
  const output = join(await temporaryFolder(), 'out.pkg.zip');
  const options = ['import-hub', 'o/d', '--name', 'N', '--local', '-o', output, '--json'];
  const rows = await svcPkg([...options, '--prompt-column', 'question'], { env });
  expect(rows.exitCode).toBe(1);
  expect(rows.error()).toMatchObject({
    code: 'invalid_row',
    errors_total: 3,
    errors: [{ row: 1 }, { row: 2 }, { row: 3 }],
  });
  const columns = await svcPkg(
    [...options, '--prompt-column', 'qestion', '--answer-column', 'b', '--invalid-rows', 'skip'],
    { env },
  );
  expect(columns.error()).toMatchObject({
    code: 'column_not_found',
    message: expect.stringContaining('Did you mean "question"?'),
    errors_total: 2,
  });
});

it('previews numbers with all their digits, also on Node 20', async () => {
  const path = join(await temporaryFolder(), 'a.jsonl');
  await writeFile(path, '{"q":"x","n":12345678901234567890,"l":[0.10000000000000000001]}\n');
  const { rawJSON } = JSON as { rawJSON?: unknown };
  Reflect.deleteProperty(JSON, 'rawJSON');
  try {
    const { stdout } = await svcPkg([
      'preview',
      path,
      '--json',
      '--prompt-column',
      'q',
      '--meta-columns',
      'n',
    ]);
    expect(stdout).toContain('"samples":[{"q":"x","n":12345678901234567890,"l":[0.10000000000000000001]}]');
    expect(stdout).toContain('"meta":{"n":12345678901234567890}');
  } finally {
    Object.assign(JSON, { rawJSON });
  }
});

it('packs and previews what comes from standard input', async () => {
  const stdin = (content: string | Uint8Array) => Readable.from([Buffer.from(content)]);
  const out = captured();
  const packing = await svcPkg(['pack', '-', '--name', 'N'], {
    stdin: stdin('{"id":1,"inputs":{"prompt":"p"},"answer":2}\n'),
    stdout: out.stream,
  });
  expect(packing).toMatchObject({ exitCode: 0, stderr: '' });
  const folder = await temporaryFolder();
  const path = join(folder, 'n.pkg.zip');
  await writeFile(path, out.bytes());
  const inspected = (await svcPkg(['inspect', path, '--json'])).document<Record<string, unknown>>();
  expect(inspected).toMatchObject({ name: 'N', item_count: 1 });
  const csv = stdin(gzipSync('q,a\n1+1?,2\n'));
  expect((await svcPkg(['preview', '-', '--json'], { stdin: csv })).document()).toMatchObject({
    format: 'csv',
    samples: [{ q: '1+1?', a: 2 }],
  });
  // Never the file that it was copied to.
  for (const argv of [
    ['pack', '-'],
    ['preview', '-'],
    ['convert', '-'],
    ['upload', '-'],
  ]) {
    for (const content of ['', 'PK\u0003\u0004 no archive', '\u0089PNG']) {
      const { exitCode, stderr } = await svcPkg(argv, { stdin: stdin(Buffer.from(content, 'latin1')) });
      expect(exitCode).not.toBe(0);
      if (argv[0] !== 'upload' || content === '') expect(stderr).toMatch(/^-: /);
    }
  }
  const legacy = await readFile(await writeArchive({ 'a.jsonl': '{"id":1,"prompt":"p"}\n' }));
  const converted = await svcPkg(['convert', '-', '-f', '-o', path, '--json'], { stdin: stdin(legacy) });
  expect(converted.document()).toMatchObject({ input: '-', output: path });
});

it.skipIf(process.platform === 'win32')('reads pipes as files', async () => {
  const pipe = join(await temporaryFolder(), 'items');
  const read = async (...args: string[]): Promise<{ exitCode: number; stdout: string }> => {
    await promisify(execFile)('mkfifo', [pipe]);
    const [done] = await Promise.all([svcPkg(args), writeFile(pipe, '{"id":1,"inputs":{"prompt":"p"}}\n')]);
    await rm(pipe);
    return done;
  };
  const output = join(dirname(pipe), 'out.pkg.zip');
  expect(await read('pack', pipe, '-o', output)).toMatchObject({ exitCode: 0 });
  expect((await read('preview', pipe)).stdout).toContain('inputs');
  const packed = await readFile(output);
  await promisify(execFile)('mkfifo', [pipe]);
  const [checked] = await Promise.all([svcPkg(['check', pipe]), writeFile(pipe, packed)]);
  expect(checked).toMatchObject({ exitCode: 0, stderr: '' });
});

it('ends as other commands do where the reader of the report on a package is gone', async () => {
  const path = await writeArchive(PACKAGE, {}, 'edited.zip');
  const output = join(dirname(path), 'sealed.pkg.zip');
  const closed = Object.assign(new Error('write EPIPE'), { code: 'EPIPE', syscall: 'write', errno: -32 });
  const stdout = new Writable({ write: (_chunk, _encoding, done) => done(closed) }).on('error', () => {});
  expect(await svcPkg(['seal', path, '-o', output], { stdout })).toMatchObject({ exitCode: 141, stderr: '' });
  expect((await svcPkg(['check', output])).exitCode).toBe(0);
});

it('makes the folder that it writes to', async () => {
  const path = await writeArchive(PACKAGE, {}, 'edited.zip');
  const made = `${join(dirname(path), 'new', 'folder')}/`;
  expect(await svcPkg(['seal', path, '-o', made])).toMatchObject({ exitCode: 0 });
  expect(await readdir(made)).toEqual(['edited.pkg.zip']);
  const below = `${path}/folder/`;
  expect(await svcPkg(['seal', path, '-o', below])).toMatchObject({
    exitCode: 3,
    stderr: `${below}: Cannot write the file: part of the path is not a folder (io_error)\n`,
  });
});

it('names the command that helps, and none that does not', async () => {
  const legacy = await writeArchive({ 'data/a.jsonl': '{"prompt":"p","id":true}\n' }, {}, 'legacy.zip');
  expect((await svcPkg(['check', legacy])).stdout).toContain(`svc-pkg convert ${legacy}`);
  expect((await svcPkg(['convert', legacy])).stderr).not.toContain('svc-pkg check');
  const lines = join(dirname(legacy), 'a.jsonl');
  await writeFile(lines, '{"id":1}\n');
  expect((await svcPkg(['hash', lines])).stderr).toContain(`svc-pkg pack ${lines}`);
  expect((await svcPkg(['hash', lines, '-q'])).stderr).not.toContain('svc-pkg pack');
});

it('packs nothing of files with errors, and lists all of them', async () => {
  const folder = join(await temporaryFolder(), 'my set');
  await mkdir(folder);
  await writeFile(join(folder, 'a.jsonl'), '{"id":1,"inputs":{}}\n{"id":}\n{"id":1.5,"inputs":{}}\n');
  await writeFile(join(folder, 'b.jsonl'), '{"id":{},"inputs":{},"tags":[1]}\n{"id":2,"inputs":{}}\n');
  const items = await svcPkg(['pack', folder]);
  expect(items).toMatchObject({ exitCode: 1, stdout: '' });
  expect(items.stderr.split('\n').map((line) => line.split(': ')[0])).toEqual([
    `${join(folder, 'a.jsonl')}:2:7`,
    `${join(folder, 'a.jsonl')}:3:7`,
    `${join(folder, 'b.jsonl')}:1:7`,
    `${join(folder, 'b.jsonl')}:1:30`,
    '',
  ]);
  const table = join(folder, 'c.csv');
  await writeFile(table, 'q,a\n1\n2,3\n4,5,6\n');
  const rows = await svcPkg(['--json', 'pack', table, '--prompt-column', 'q', '--answer-column', 'a']);
  expect(rows.exitCode).toBe(1);
  expect(rows.error()).toMatchObject({ errors_total: 2, errors: [{ line: 2 }, { line: 4 }] });
});

it('names the dataset of a folder after the folder', async () => {
  const folder = join(await temporaryFolder(), 'my set');
  await mkdir(folder);
  await writeFile(join(folder, 'a.jsonl'), '{"id":1,"inputs":{}}\n');
  const { stdout } = await svcPkg(['--json', 'pack', folder]);
  expect(JSON.parse(stdout)).toMatchObject({ name: 'my set', output: `${folder}.pkg.zip` });
});

it('says that --invalid-rows needs a mapping', async () => {
  const path = join(await temporaryFolder(), 'a.jsonl');
  await writeFile(path, '{"id":1}\n');
  const outcome = await svcPkg(['pack', path, '--invalid-rows', 'skip']);
  expect(outcome).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('--invalid-rows is for rows'),
  });
});
