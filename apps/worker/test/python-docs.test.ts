import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { buildZip } from '../../../packages/pkg-format/test/build-zip.ts';
import { startTestService } from './start-test-service.ts';

const KEY = 'a-key-of-an-editor';

/** Whether Python can import the libraries of the page's programs. */
function hasPython(...libraries: readonly string[]): boolean {
  try {
    execFileSync('python3', ['-c', `import ${libraries.join(', ')}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

it.skipIf(!hasPython('requests'))('the programs of the page do what they say', async () => {
  const page = await readFile(new URL('../../../docs/python.md', import.meta.url), 'utf8');
  const programs = [...page.matchAll(/^```python\n([\s\S]*?)^```$/gm)].map(([, program]) => program);
  expect(programs).toHaveLength(3);
  const tables = /^```py\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? '';
  await using service = await startTestService({ env: { SVC_API_KEYS: `admin:${KEY}` } });
  const folder = await mkdtemp(join(tmpdir(), 'svc-python-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const lines = '{"answer":4,"id":12345678901234567890,"inputs":{"prompt":"2+2?"}}\n';
  const content = `${lines}{"answer":0.12345678901234567890123,"id":2,"inputs":{"prompt":"?"}}\n`;
  await writeFile(
    join(folder, 'sums.pkg.zip'),
    buildZip({ entries: [{ name: 'sections/train.jsonl', content }] }),
  );
  const all = [...programs, ...(hasPython('pandas', 'datasets') ? [tables] : [])];
  await writeFile(join(folder, 'program.py'), all.join('\n'));
  const { stdout } = await promisify(execFile)('python3', ['program.py'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], SVC_API_URL: service.url, SVC_API_KEY: KEY, NO_PROXY: '127.0.0.1' },
  });
  expect(stdout.split('\n')).toEqual(
    expect.arrayContaining([
      'Sums 2',
      '12345678901234567890 2+2? 4',
      '2 ? 0.12345678901234567890123',
      '12345678901234567890 ok 2+2?',
      'completed 2',
    ]),
  );
});
