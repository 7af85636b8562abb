import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

it('the README example prints the README output', async () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const index = fileURLToPath(new URL('../src/index.ts', import.meta.url));
  const [, example = '', output] = /```ts\n([\s\S]*?)```[\s\S]*?```\n([\s\S]*?)```/.exec(readme) ?? [];
  const script = example.replace("'@svc/observability'", JSON.stringify(index));
  expect(script).not.toBe(example);
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module-typescript',
    '-e',
    script,
  ]);
  expect(stdout).toBe(output);
});
