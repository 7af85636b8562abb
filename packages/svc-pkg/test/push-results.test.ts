import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { fakeService, type Handler } from './fake-service.ts';
import { svcPkg } from './run-svc-pkg.ts';
import { temporaryFolder } from './temporary-folder.ts';

const RUN = '0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d';
const path = (name: string): string => `POST /runs/${RUN}/${name}`;
const json =
  (body: object): Handler =>
  (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };

it('sends a file in pieces, each again after a lost connection, and names the lines that were rejected', async () => {
  const pieces: number[] = [];
  let tries = 0;
  const service = await fakeService({
    [path('results')]: ({ body }, response) => {
      tries += 1;
      // the first one is lost after it was stored
      if (tries === 1) {
        response.destroy();
        return;
      }
      const lines = body.toString().trimEnd().split('\n').length;
      pieces.push(lines);
      const rejected = pieces.length === 2 ? [{ line: 2, message: 'The line is \u001b[31mbad.' }] : [];
      json({
        ...{ accepted: lines - rejected.length, replaced: 0 },
        ...{ rejected, rejected_total: rejected.length },
      })({ body } as never, response, {} as never);
    },
  });
  const file = join(await temporaryFolder(), 'done.jsonl');
  const line = `${JSON.stringify({ item_id: 1, output: 'x'.repeat(999_000) })}\n`;
  await writeFile(file, line.repeat(6));
  const { exitCode, stdout } = await svcPkg([
    'results',
    'push',
    RUN,
    file,
    '--finish',
    '--api-url',
    service.url,
  ]);
  expect(tries).toBe(3);
  expect(pieces.reduce((sum, lines) => sum + lines)).toBe(6);
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(/^accepted {2}5\nreplaced {2}0\nrejected {2}1\nline \d: The line is /);
  expect(stdout).toContain(`line ${(pieces[0] ?? 0) + 2}:`);
  expect(stdout).not.toContain('\u001b');
  expect(service.requests.some(({ url }) => url.endsWith('/finish'))).toBe(false);
});

it('takes standard input, and ends the run if asked to', async () => {
  const service = await fakeService({
    [path('results')]: json({ accepted: 1, replaced: 0, rejected: [], rejected_total: 0 }),
    [path('finish')]: json({ id: RUN, status: 'completed' }),
  });
  const { exitCode, stdout } = await svcPkg(
    ['--json', 'results', 'push', RUN, '-', '--finish', '--allow-missing', '--api-url', service.url],
    { stdin: Readable.from([Buffer.from('{"item_id":1,"output":"2"}\n')]) },
  );
  expect({ exitCode, stdout }).toEqual({
    exitCode: 0,
    stdout: '{"accepted":1,"replaced":0,"redacted":0,"rejected":[],"rejected_total":0}\n',
  });
  expect(service.requests.map(({ url, body }) => [url, body.toString()])).toEqual([
    [`/runs/${RUN}/results`, '{"item_id":1,"output":"2"}\n'],
    [`/runs/${RUN}/finish`, '{"allow_missing":true}'],
  ]);
});

it('writes what a run waits for, and claims it if asked to', async () => {
  const lines = '{"order_index":0}\n';
  const send: Handler = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/jsonl' }).end(lines);
  };
  const service = await fakeService({ [`GET /runs/${RUN}/pending`]: send, [path('pending')]: send });
  expect(await svcPkg(['pending', RUN, '--limit', '3', '--api-url', service.url])).toMatchObject({
    exitCode: 0,
    stdout: lines,
  });
  expect(await svcPkg(['pending', RUN, '--claim', '60', '--api-url', service.url])).toMatchObject({
    stdout: lines,
  });
  expect(service.requests.map(({ method, url, body }) => [method, url, body.toString()])).toEqual([
    ['GET', `/runs/${RUN}/pending?limit=3`, ''],
    ['POST', `/runs/${RUN}/pending`, '{"claim_seconds":60}'],
  ]);
});
