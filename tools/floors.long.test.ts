import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CASES = ['--sizes', '100000', '--cases', 'upload,export', '--shape-bytes', '200000000'];

// Ratios to a baseline of the same run; `npm run bench -- … --floors write` after a change that is meant.
it('no shape of data has lost its floor', { timeout: 3_600_000 }, async () => {
  const bench = ['bench/main.ts', ...CASES, '--rounds', '3', '--floors', 'check'];
  const { stderr } = await promisify(execFile)(process.execPath, bench, { cwd: ROOT, maxBuffer: 2 ** 26 });
  expect(stderr).not.toContain('Floor lost');
});
