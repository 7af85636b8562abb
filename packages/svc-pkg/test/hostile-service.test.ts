import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { DATASET, fakeService, json, problem } from './fake-service.ts';
import { svcPkg } from './run-svc-pkg.ts';
import { temporaryFolder, writeArchive } from './temporary-folder.ts';

it.each(['../escaped', '..%2fescaped', '/tmp/escaped', 'x\u001b[2J', '', 'C:\\escaped'])(
  'writes no file for a dataset whose id is %j',
  async (id) => {
    const folder = await temporaryFolder();
    const output = join(folder, 'inner', 'output');
    await mkdir(output, { recursive: true });
    const service = await fakeService({
      'GET /datasets': json({ data: [{ id }] }),
      [`GET /datasets/${encodeURIComponent(id)}/export`]: (_request, response) => void response.end('zip'),
    });
    const outcome = await svcPkg(['export', 'sample', '--api-url', service.url, '--output', output]);
    expect(outcome).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('(bad_response)') });
    expect(outcome.stderr).not.toContain('\u001b');
    const entries = await readdir(folder, { recursive: true });
    expect(entries.sort()).toEqual(['inner', join('inner', 'output')]);
  },
);

const EVIL = '\u009b2J \u007f \u202ereversed \u2066 \u061c';

it('prints JSON that holds no control or reordering characters', async () => {
  const path = await writeArchive({ 'sections/a.jsonl': '{}\n' });
  const answer = { ...DATASET, name: EVIL };
  const good = await fakeService({ 'POST /datasets/upload': json(answer, 201) });
  const { stdout } = await svcPkg(['--json', 'upload', path, '--api-url', good.url]);
  expect(stdout).toMatch(/^[\x20-\x7e\n]+$/);
  expect(JSON.parse(stdout)).toEqual(answer);

  const bad = await fakeService({ 'POST /datasets/upload': problem(400, 'invalid_request', EVIL) });
  const { stderr } = await svcPkg(['--json', 'upload', path, '--api-url', bad.url]);
  expect(stderr).toMatch(/^[\x20-\x7e\n]+$/);
  expect(JSON.parse(stderr).error.message).toBe(EVIL);
});

it('prints a preview of very many columns within bounds', async () => {
  const features = Array.from({ length: 50_000 }, (_, index) => ({ name: `${index}`, dtype: 'string' }));
  const answer = { features: [{ name: '\u001b'.repeat(200), dtype: 'string' }, ...features], samples: [] };
  const service = await fakeService({ 'POST /datasets/hub/preview': json(answer) });
  const { exitCode, stdout } = await svcPkg(['preview', 'o/d', '--api-url', service.url]);
  expect(exitCode).toBe(0);
  expect(stdout.length).toBeLessThan(500_000);
  expect(stdout).toContain('... and 49901 more');
});

it.each([
  ['results', '/results.jsonl', ['--output', 'file']],
  ['labels', '/labels.csv', ['--output', 'file']],
  ['pending', '/pending', ['--output', 'file']],
  ['export', '/export', ['--output', 'file']],
  ['items', '/items.jsonl', ['--output', 'file']],
  ['delete', '', ['--yes']],
])('takes the page of a proxy for no answer: %s', async (command, path, argv) => {
  const folder = await temporaryFolder();
  const of = ['export', 'items', 'delete'].includes(command) ? 'datasets' : 'runs';
  const method = command === 'delete' ? 'DELETE' : 'GET';
  const service = await fakeService({
    [`GET /datasets/${DATASET.id}`]: json(DATASET),
    [`${method} /${of}/${DATASET.id}${path}`]: (_request, response) =>
      void response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<html>Log in</html>'),
  });
  const file = join(folder, 'file');
  const given = argv.map((arg) => (arg === 'file' ? file : arg));
  const outcome = await svcPkg([command, DATASET.id, ...given, '--api-url', service.url]);
  expect(outcome).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringContaining('(bad_response)'),
  });
  expect(outcome.stderr).toContain('returned a page');
  expect(await readdir(folder)).toEqual([]);
});

it.each([['runs'], ['cancel', DATASET.id], ['retry', DATASET.id], ['compare', DATASET.id, DATASET.id]])(
  'says that JSON of another service is not of this one: %s',
  async (command, ...argv) => {
    const other = json(null);
    const service = await fakeService({
      'GET /runs': other,
      [`POST /runs/${DATASET.id}/cancel`]: other,
      [`POST /runs/${DATASET.id}/retry`]: other,
      [`GET /runs/${DATASET.id}/compare/${DATASET.id}`]: other,
    });
    const outcome = await svcPkg([command, ...argv, '--api-url', service.url]);
    expect(outcome).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('(bad_response)') });
  },
);

it('follows no redirect, and says where it leads', async () => {
  const service = await fakeService({
    'GET /runs': (_request, response) =>
      void response.writeHead(301, { location: 'https://h.example/runs' }).end(),
  });
  const outcome = await svcPkg(['runs', '--api-url', service.url]);
  expect(outcome).toMatchObject({
    exitCode: 1,
    stderr:
      'svc-pkg: The service returned status 301 with a redirect to https://h.example/runs; --api-url must be its own address (bad_response)\n',
  });
});
