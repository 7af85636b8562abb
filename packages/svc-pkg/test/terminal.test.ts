import { execFile, execFileSync } from 'node:child_process';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { IS_LONG } from '../../../tools/vitest/long.ts';
import { DATASET, fakeService, json, problem } from './fake-service.ts';
import { temporaryFolder, writeArchive } from './temporary-folder.ts';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const PROGRAM = fileURLToPath(new URL('on-a-terminal.py', import.meta.url));

function hasPython(): boolean {
  try {
    execFileSync('python3', ['-c', 'import os, pty; os.waitstatus_to_exitcode'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

interface Shown {
  readonly exitCode: number;
  /** Everything that the terminal showed, what was typed included. */
  readonly shown: string;
}

/** Runs the build on a pseudo-terminal, and types each answer when its question appears. */
async function onTerminal(
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
  steps: readonly (readonly [question: string, answer: string])[] = [],
): Promise<Shown> {
  const args = [PROGRAM, JSON.stringify(steps), process.execPath, MAIN, ...argv];
  const { stdout } = await promisify(execFile)('python3', args, {
    env: { PATH: process.env['PATH'] ?? '', TERM: 'xterm', ...env },
  });
  return JSON.parse(stdout);
}

describe.skipIf(!hasPython())('on a terminal', () => {
  it('delete asks for the name', async () => {
    const path = `/datasets/${DATASET.id}`;
    const deleted: string[] = [];
    const service = await fakeService({
      [`GET ${path}`]: json(DATASET),
      [`DELETE ${path}`]: (request, response) => {
        deleted.push(request.url);
        response.writeHead(204).end();
      },
    });
    const env = { SVC_API_URL: service.url };
    const wrong = await onTerminal(['delete', DATASET.id], env, [['(sample): ', 'simple\r']]);
    expect(wrong.exitCode).toBe(1);
    expect(wrong.shown).toContain('not_confirmed');
    expect(deleted).toEqual([]);
    const right = await onTerminal(['delete', DATASET.id], env, [['(sample): ', 'sample\r']]);
    expect(right.exitCode).toBe(0);
    expect(deleted).toEqual([path]);
  });

  it.runIf(IS_LONG)('login does not show the key, and stores it for its owner alone', async () => {
    const page = json({ role: 'admin', anonymous: false, expires_at: null });
    const service = await fakeService({
      'GET /session': (request, response, raw) =>
        (request.headers.authorization === 'Bearer sesame' ? page : problem(401, 'unauthenticated', 'No'))(
          request,
          response,
          raw,
        ),
    });
    const env = { XDG_CONFIG_HOME: await temporaryFolder() };
    const login = (key: string): Promise<Shown> =>
      onTerminal(['login', '--api-url', service.url], env, [['Key of ', `${key}\r`]]);
    expect(await login('wrong')).toMatchObject({ exitCode: 1 });
    const { exitCode, shown } = await login('sesame');
    expect({ exitCode, shown }).toEqual({
      exitCode: 0,
      shown: expect.stringContaining('Next: svc-pkg list'),
    });
    expect(shown).not.toContain('sesame');
    const file = join(env.XDG_CONFIG_HOME, 'svc-pkg/credentials.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
      default_url: service.url,
      keys: { [service.url]: 'sesame' },
    });
  });

  it.runIf(IS_LONG)('shows progress and the next command, and colours only without NO_COLOR', async () => {
    const package_ = await writeArchive({ 'sections/a.jsonl': '{"id":1}\n' });
    const checked = await onTerminal(['check', package_], {});
    expect(checked.exitCode).toBe(0);
    expect(checked.shown).toContain('reading [');
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'a.csv'), 'q,a\n1,2\n');
    const packed = await onTerminal(['pack', join(folder, 'a.csv'), '--prompt-column', 'q'], {});
    expect(packed.shown).toContain(`Next: svc-pkg check ${join(folder, 'a.pkg.zip')}`);
    expect((await onTerminal(['--help'], {})).shown).toContain('\u001b[1m');
    expect((await onTerminal(['--help'], { NO_COLOR: '1' })).shown).not.toContain('\u001b[');
  });
});
