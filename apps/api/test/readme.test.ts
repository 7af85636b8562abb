import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { startTestApi } from './start-test-api.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);

it('runs every command of the README, in order', async () => {
  await using api = await startTestApi();
  const readme = await readFile(`${root}/README.md`, 'utf8');
  const blocks = [...readme.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, code]) => code);
  expect(blocks).toHaveLength(1);
  const script = blocks.join('\n').replaceAll('http://127.0.0.1:8080', api.url);
  const { stdout, stderr } = await run('bash', ['-euo', 'pipefail', '-c', script], { cwd: root });
  expect(stderr).toBe('');
  // uploaded, found, renamed; the refused upload; every item once
  expect(stdout).toContain('"name":"Capitals"');
  expect(stdout).toContain('"name":"Capital cities"');
  expect(stdout).toContain('"code":"package_not_a_zip"');
  expect(stdout.match(/\{"answer":"\w+","checker".*\}$/gm)).toHaveLength(7);
  const { meta } = (await (await fetch(`${api.url}/datasets`)).json()) as { meta: { total_items: number } };
  expect(meta.total_items).toBe(0);
});
