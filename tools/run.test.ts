import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

/** Runs `npm start` as far as its arguments. */
function start(...args: string[]): readonly [code: number | null, stdout: string, stderr: string] {
  const program = fileURLToPath(new URL('./run.mjs', import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'start', ...args], {
    encoding: 'utf8',
  });
  return [status, stdout, stderr];
}

it('npm start says what it takes', () => {
  expect(start('--help')).toEqual([0, expect.stringMatching(/^usage: npm start.*--port.*--data/s), '']);
});

it.each([
  [['--prot', '9000'], 'unknown argument "--prot"'],
  [['9000'], 'unknown argument "9000"'],
  [['--port'], '--port needs a value'],
  [['--data='], '--data needs a value'],
])('npm start refuses %j before it installs anything', (args, reason) => {
  expect(start(...args)).toEqual([2, '', expect.stringContaining(`npm start: ${reason}\n\nusage:`)]);
});
