import { execFileSync } from 'node:child_process';
import { lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openPackageFile } from '@svc/pkg-format/node';
import { expect, it } from 'vitest';
import { captured, svcPkg } from './run-svc-pkg.ts';
import { temporaryFolder, writeArchive } from './temporary-folder.ts';

const LEGACY = {
  'meta.json': '{"description":"Old","system_prompt":"Be brief."}',
  'data/train.jsonl':
    '{"id":1,"prompt":"2+2?","expected":"4"}\n{"id":2,"prompt":"3+3?","system":"Be long.","expected":"6","answer":"six"}\n',
  'readme.txt': 'hello',
};

it('writes a package into the folder of the archive and reports the changes', async () => {
  const path = await writeArchive(LEGACY, {}, 'old.zip');
  const output = join(dirname(path), 'old.pkg.zip');
  const { exitCode, stdout, stderr } = await svcPkg(['convert', path]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect((await readdir(dirname(path))).sort()).toEqual(['old.pkg.zip', 'old.zip']);
  const hash = (await svcPkg(['hash', output])).stdout.trim();
  expect(stdout).toContain(
    `output        ${output}\nname          old\nversion hash  ${hash}\nitems         2 in 1 section\n`,
  );
  expect(stdout).toContain('\nsections\n  train: 2 items of data/train.jsonl\n');
  expect(stdout).toContain('\n  2 x prompt is now inputs.prompt (first: data/train.jsonl:1)\n');
  expect(stdout).toContain('\n  1 x expected stays: answer has another value (first: data/train.jsonl:2)\n');
  expect(stdout).toMatch(
    /\n {2}1 x inputs\.system_prompt comes from .+ of the dataset \(first: data\/train\.jsonl:1\)\n/,
  );
  expect(await svcPkg(['check', output])).toMatchObject({ exitCode: 0 });
  expect((await svcPkg(['inspect', output])).stdout).toContain('"prompt": "2+2?"');
});

it('reports the same as JSON', async () => {
  const path = await writeArchive(LEGACY, {}, 'old.zip');
  const output = join(await temporaryFolder(), 'out.zip');
  const outcome = await svcPkg(['convert', path, '--name', 'My set', '--output', output, '--json']);
  expect(outcome).toMatchObject({ exitCode: 0, stderr: '' });
  expect(outcome.document()).toMatchObject({
    input: path,
    output,
    name: 'My set',
    version_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    item_count: 2,
    sections: [{ name: 'train', from: 'data/train.jsonl', item_count: 2 }],
    already_new: false,
    changes: expect.arrayContaining([
      {
        what: 'moved',
        from: 'prompt',
        to: 'inputs.prompt',
        count: 2,
        first: expect.objectContaining({ line: 1 }),
      },
    ]),
  });
});

it('names itself as the writer of the package', async () => {
  const path = await writeArchive(LEGACY, {}, 'old.zip');
  const output = join(await temporaryFolder(), 'new.pkg.zip');
  await svcPkg(['convert', path, '--output', output]);
  await using pkg = await openPackageFile(output);
  expect(pkg.manifest).toMatchObject({ generator: 'svc-pkg', generator_version: '9.9.9' });
});

it('changes nothing in a package', async () => {
  const path = await writeArchive(LEGACY, {}, 'old.zip');
  const folder = await temporaryFolder();
  await svcPkg(['convert', path, '--output', join(folder, 'one.pkg.zip')]);
  const again = await svcPkg([
    'convert',
    join(folder, 'one.pkg.zip'),
    '--output',
    join(folder, 'two.pkg.zip'),
  ]);
  expect(again.stdout).toContain(
    'changed       only the generator in the manifest: it already was a package\n',
  );
  expect(await readFile(join(folder, 'two.pkg.zip'))).toEqual(await readFile(join(folder, 'one.pkg.zip')));
});

it('writes the package to standard output', async () => {
  const path = await writeArchive(LEGACY, {}, 'old.zip');
  const output = join(await temporaryFolder(), 'new.zip');
  await svcPkg(['convert', path, '--output', output]);
  const out = captured();
  const { exitCode, stderr } = await svcPkg(['convert', path, '--output', '-'], { stdout: out.stream });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(out.bytes().equals(await readFile(output))).toBe(true);
  expect(await readdir(dirname(path))).toEqual(['old.zip']);
  const withReport = await svcPkg(['convert', path, '--output', '-', '--json']);
  expect(JSON.parse(withReport.stderr)).toMatchObject({
    input: path,
    output: '-',
    name: 'old',
    item_count: 2,
  });
});

it('writes nothing to standard output for an archive that it cannot convert', async () => {
  const path = await writeArchive({ 'a.json': '[{},{"assets":[{"src":"x.png"}]}]' }, {}, 'old.zip');
  const outcome = await svcPkg(['convert', path, '--output', '-']);
  expect(outcome).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: `${path}!/a.json:1:23, row 1: The archive has no file "x.png" at /1/assets/0/src (package_missing_file)\n`,
  });
});

it('does not overwrite its input without --force', async () => {
  const path = await writeArchive({ 'sections/a.jsonl': '{"id":1}\n' }, {}, 'new.pkg.zip');
  expect(await svcPkg(['convert', path])).toMatchObject({
    exitCode: 3,
    stderr: expect.stringContaining('(output_exists)'),
  });
  expect(await svcPkg(['convert', path, '--force'])).toMatchObject({ exitCode: 0 });
  expect(await readdir(dirname(path))).toEqual(['new.pkg.zip']);
});

it('keeps an existing output, and replaces it with --force, also the target of a link', async () => {
  const path = await writeArchive(LEGACY, {}, 'old.zip');
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'real'));
  await writeFile(join(folder, 'real', 'a.zip'), 'old');
  await symlink('real/a.zip', join(folder, 'a.zip'));
  const output = join(folder, 'a.zip');
  expect(await svcPkg(['convert', path, '--output', output])).toMatchObject({
    exitCode: 3,
    stdout: '',
    stderr: `${output}: The file already exists; use --force to replace it (output_exists)\n`,
  });
  expect(await readFile(output, 'utf8')).toBe('old');
  expect(await svcPkg(['convert', path, '--output', output, '--force'])).toMatchObject({ exitCode: 0 });
  expect(await readdir(join(folder, 'real'))).toEqual(['a.zip']);
  expect(await svcPkg(['check', join(folder, 'real', 'a.zip')])).toMatchObject({ exitCode: 0 });
});

it.each([
  [
    'a line that is not an item',
    { 'data/a.jsonl': '{"id":1}\n{"id":\n', 'readme.txt': '' },
    1,
    /old\.zip!\/data\/a\.jsonl:2:\d+: .+ \(package_invalid_line\)$/m,
  ],
  ['an archive without items', { 'readme.txt': 'x' }, 1, /old\.zip: .+ \(package_no_sections\)$/m],
  ['no archive', null, 1, /old\.zip: .+ \(package_not_a_zip\)$/m],
])('leaves nothing of %s', async (_name, files, exitCode, message) => {
  const path = await writeArchive(files ?? {}, {}, 'old.zip');
  if (files === null) await writeFile(path, 'hello');
  const outcome = await svcPkg(['convert', path]);
  expect(outcome).toMatchObject({ exitCode, stdout: '' });
  expect(outcome.stderr).toMatch(message);
  expect(await readdir(dirname(path))).toEqual(['old.zip']);
});

it('says which file cannot be read or written', async () => {
  const path = await writeArchive(LEGACY, {}, 'old.zip');
  const missing = join(dirname(path), 'missing.zip');
  for (const [argv, stderr] of [
    [[missing], `${missing}: Cannot read the file: no such file or folder (io_error)\n`],
    [[dirname(path)], `${dirname(path)}: Cannot read the file: it is a folder (io_error)\n`],
    [
      [path, '--output', '/nowhere/x.zip'],
      '/nowhere/x.zip: Cannot write the file: no such file or folder (io_error)\n',
    ],
    [
      [path, '--output', '/dev/null', '--force'],
      '/dev/null: Cannot write the file: it is a device or a pipe (io_error)\n',
    ],
    [
      [path, '--output', `${path}/x.zip`],
      `${path}/x.zip: Cannot write the file: part of the path is not a folder (io_error)\n`,
    ],
  ] as const) {
    expect(await svcPkg(['convert', ...argv])).toMatchObject({ exitCode: 3, stdout: '', stderr });
  }
  const pkg = await writeArchive({ 'sections/a.jsonl': '{"inputs":{"prompt":"q"}}\n' });
  for (const [argv, stderr] of [
    [[missing], `${missing}: Cannot read the file: no such file or folder (io_error)\n`],
    [
      [pkg, '-o', '/nowhere/x.jsonl'],
      '/nowhere/x.jsonl: Cannot write the file: no such file or folder (io_error)\n',
    ],
  ] as const) {
    const outcome = await svcPkg(['convert', '--to', 'promptfoo', ...argv]);
    expect(outcome).toMatchObject({ exitCode: 3, stdout: '', stderr });
  }
});

it.each(['', '   ', 'x'.repeat(256)])('refuses the name %j', async (name) => {
  const path = await writeArchive(LEGACY, {}, 'old.zip');
  expect(await svcPkg(['convert', path, '--name', name])).toMatchObject({ exitCode: 2 });
});

it('names the archive of an error, and prints the reports of those before it', async () => {
  const good = await writeArchive(LEGACY, {}, 'good.zip');
  const bad = await writeArchive({ 'data/a.jsonl': '{"prompt":"x"}\n{"id":}\n' }, {}, 'bad.zip');
  const outcome = await svcPkg(['convert', good, bad]);
  expect(outcome.stderr).toMatch(new RegExp(`^${bad}!/data/a\\.jsonl:2:7: `));
  const documents = await svcPkg(['--json', 'convert', '--force', good, bad]);
  expect(documents.exitCode).toBe(1);
  expect(documents.document()).toMatchObject([{ input: good, item_count: 2 }]);
  expect(documents.error()).toMatchObject({ file: `${bad}!/data/a.jsonl`, line: 2, column: 7 });
});

it('prints no report with --quiet', async () => {
  const path = await writeArchive(LEGACY, {}, 'old.zip');
  expect(await svcPkg(['convert', path, '--quiet'])).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
});

it('sends files with tables to pack', async () => {
  const path = await writeArchive({ 'a.csv': 'q,a\n1,2\n' }, {}, 'tables.zip');
  const { stderr } = await svcPkg(['convert', await writeArchive(LEGACY), path, '--force']);
  expect(stderr).toContain(`svc-pkg pack ${path}\n`);
});

it('writes no archive to a terminal', async () => {
  const path = await writeArchive(LEGACY, {}, 'old.zip');
  expect(await svcPkg(['convert', path, '-o', '-'], { isOutputTerminal: true })).toMatchObject({
    exitCode: 2,
    stdout: '',
  });
});

it('ends --to with --strict as --from where something has no place', async () => {
  const path = await writeArchive({ 'sections/a.jsonl': '{"inputs":{"prompt":"q"},"answer":["1","2"]}\n' });
  const outcome = await svcPkg(['convert', '--to', 'promptfoo', '--strict', path]);
  expect(outcome).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: `${path}: promptfoo has no place for several answers (1) (package_unsupported)\n`,
  });
  expect(await readdir(dirname(path))).toEqual([basename(path)]);
});

it('writes --to standard output, and replaces with --force only what it may', async () => {
  const path = await writeArchive({ 'sections/a.jsonl': '{"inputs":{"prompt":"q"},"answer":"a"}\n' });
  const convert = (tool: string, ...more: string[]): ReturnType<typeof svcPkg> =>
    svcPkg(['convert', '--to', tool, path, '-f', '-o', ...more]);
  const printed = await convert('promptfoo', '-');
  expect(printed).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^\{.*"q".*\}\n$/) });
  expect(await convert('lm-eval', '-')).toMatchObject({ exitCode: 2, stdout: '' });
  const file = `${path}.jsonl`;
  await writeFile(file, 'old', { mode: 0o600 });
  await symlink(file, `${path}.link`);
  expect(await convert('promptfoo', `${path}.link`)).toMatchObject({ exitCode: 0 });
  expect(await readFile(file, 'utf8')).toBe(printed.stdout);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await lstat(`${path}.link`)).isSymbolicLink()).toBe(true);
  // Neither a pipe nor a file of another kind is replaced.
  const pipe = `${path}.pipe`;
  execFileSync('mkfifo', [pipe]);
  expect(await convert('promptfoo', pipe)).toMatchObject({ exitCode: 3 });
  expect((await stat(pipe)).isFIFO()).toBe(true);
  expect(await convert('lm-eval', file)).toMatchObject({ exitCode: 3 });
  expect((await stat(file)).isFile()).toBe(true);
});

it('counts a run that the tool has no place for, unless the dataset alone is wanted', async () => {
  const result = { section: 'a', order_index: 0, repetition: 1, status: 'ok', output: '4', score: 1 };
  const path = await writeArchive({
    'sections/a.jsonl': '{"inputs":{"prompt":"2 + 2?"},"answer":"4"}\n',
    'results.jsonl': `${JSON.stringify({ ...result, passed: true, scored_by: 'checker' })}\n`,
  });
  const output = `${path}.task`;
  const convert = (...more: string[]): ReturnType<typeof svcPkg> =>
    svcPkg(['convert', '--to', 'lm-eval', '--strict', path, '-o', output, ...more]);
  expect(await convert()).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('no place for the run and its results (1)'),
  });
  expect(await convert('--dataset-only')).toMatchObject({ exitCode: 0 });
});

it('converts files of another tool, and a package for another tool', async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'sums.jsonl');
  await writeFile(path, '{"input":"2 + 2?","ideal":"4","author":"me"}\n');
  const strict = await svcPkg(['convert', '--from', 'openai-evals', '--strict', path]);
  expect(strict).toMatchObject({ exitCode: 1 });
  expect(strict.stderr).toContain('member author (1)');
  const made = await svcPkg(['convert', '--from', 'openai-evals', '--keep-source', path, '--json']);
  expect(made).toMatchObject({ exitCode: 0, stderr: '' });
  const output = join(folder, 'sums.pkg.zip');
  expect(made.document()).toMatchObject({
    output,
    item_count: 1,
    lost: [{ what: 'member author', count: 1 }],
  });
  expect((await svcPkg(['inspect', output])).stdout).toContain('"author": "me"');

  for (const tool of ['promptfoo', 'inspect']) {
    expect(await svcPkg(['convert', '--to', tool, output])).toMatchObject({ exitCode: 0 });
  }
  expect(await svcPkg(['convert', '--to', 'openai-batch', output])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('Cannot write an OpenAI batch: --model is missing'),
  });
  const batch = ['convert', '--to', 'openai-batch', '--model', 'gpt-x', output];
  expect(await svcPkg(batch)).toMatchObject({ exitCode: 0 });
  expect(await svcPkg(['convert', '--to', 'lm-eval', output])).toMatchObject({ exitCode: 0 });
  expect(await svcPkg(['convert', '--to', 'every-eval-ever', output])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('it is a format of runs, and there is none'),
  });
  expect((await readdir(folder)).sort()).toEqual(
    [
      ...['sums.jsonl', 'sums.lm-eval', 'sums.inspect.jsonl', 'sums.openai-batch.jsonl', 'sums.pkg.zip'],
      'sums.promptfoo.jsonl',
    ].sort(),
  );
  expect((await readdir(join(folder, 'sums.lm-eval'))).sort()).toEqual(['items.jsonl', 'task.yaml']);
  // What was written for a tool comes back as it was.
  const hash = (await svcPkg(['hash', output])).stdout.trim();
  const again = await svcPkg([
    'convert',
    '--from',
    'promptfoo',
    join(folder, 'sums.promptfoo.jsonl'),
    '--json',
  ]);
  expect(again.document()).toMatchObject({ version_hash: hash });
  expect(await svcPkg(['convert', '--to', 'promptfoo', output])).toMatchObject({ exitCode: 3 });
  expect(await svcPkg(['convert', '--strict', output])).toMatchObject({ exitCode: 2 });
});

it('refuses a log of Inspect without --from, and says how to convert it', async () => {
  const log = fileURLToPath(new URL('../../../conformance/formats/inspect/input-task.eval', import.meta.url));
  const output = join(await temporaryFolder(), 'out.pkg.zip');
  for (const argv of [
    ['convert', log, '-o', output],
    ['pack', log, '-o', output],
    ['preview', log],
  ]) {
    expect(await svcPkg(argv), argv[0]).toMatchObject({
      exitCode: 2,
      stderr: `${log}: It is a log of Inspect (usage)\nTo turn it into a package: svc-pkg convert --from inspect ${log}\n`,
    });
  }
  expect((await svcPkg(['convert', '--from', 'inspect', log, '-o', output])).exitCode).toBe(0);
});

it('makes a package of each prompt and provider of promptfoo, or of the one that is chosen', async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'results.json');
  const results = ['x', 'y'].map((id, promptIdx) => ({
    ...{ promptIdx, promptId: 'p', provider: { id, label: '' }, prompt: { raw: 'q', label: 'q' } },
    ...{ success: true, score: 1, failureReason: 0, gradingResult: { pass: true, score: 1 } },
    ...{ testCase: { vars: {} }, response: { output: id } },
  }));
  await writeFile(path, JSON.stringify({ evalId: 'e', results: { version: 3, results } }));
  const all = await svcPkg(['convert', '--from', 'promptfoo', path, '--json']);
  expect(all.document()).toMatchObject([
    { output: join(folder, 'results.pkg.zip'), prompt: 0 },
    { output: join(folder, 'results.prompt-1.pkg.zip'), prompt: 1 },
  ]);
  const again = await svcPkg(['convert', '--from', 'promptfoo', path, '-o', join(folder, 'new.pkg.zip')]);
  expect(again).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('new.prompt-1.pkg.zip') });
  const one = await svcPkg(['convert', '--from', 'promptfoo', '--prompt', '1', path, '-f', '--json']);
  expect(one.document()).toMatchObject({ output: join(folder, 'results.pkg.zip'), prompt: 1 });
  const printed = await svcPkg(['convert', '--from', 'promptfoo', path, '-o', '-']);
  expect(printed).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('choose one of 0, 1') });
});

it('writes more requests than a batch may have into a folder without the name of a file', async () => {
  const folder = await temporaryFolder();
  const path = await writeArchive({ 'sections/a.jsonl': '{"inputs":{"prompt":"q"}}\n'.repeat(50_001) });
  const output = join(folder, 'b.jsonl');
  const made = await svcPkg(['convert', '--to', 'openai-batch', '--model', 'm', path, '-o', output]);
  expect(made).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(join(folder, 'b')) });
  expect((await readdir(join(folder, 'b'))).sort()).toEqual(['batch-1.jsonl', 'batch-2.jsonl']);
});

it('converts a dump of OpenAI’s Evals API, and its run to records of Every Eval Ever', async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'dump.jsonl');
  const outputItem = {
    ...{
      object: 'eval.run.output_item',
      id: 'o',
      run_id: 'r',
      eval_id: 'e',
      datasource_item_id: 0,
      status: 'pass',
    },
    ...{ datasource_item: { question: '2 + 2?' }, results: [], sample: { output: [{ content: '4' }] } },
  };
  await writeFile(path, JSON.stringify({ object: 'list', data: [outputItem] }));
  expect(await svcPkg(['convert', '--from', 'openai-evals-api', path])).toMatchObject({ exitCode: 0 });
  const records = ['convert', '--to', 'every-eval-ever', join(folder, 'dump.pkg.zip')];
  expect(await svcPkg(records)).toMatchObject({ exitCode: 0, stderr: '' });
  const archive = (await readFile(join(folder, 'dump.every-eval-ever.zip'))).toString('latin1');
  expect(archive).toMatch(/data\/dump\/unknown\/unknown\/[0-9a-f-]{36}_samples\.jsonl/);
});
