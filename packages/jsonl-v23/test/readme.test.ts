import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import * as api from '../src/index.ts';
import * as json from '../src/json/index.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

it('the example of the README prints what the README says', async () => {
  const [, code, output] = /```js\n([\s\S]*?)```[\s\S]*?```\n([\s\S]*?)```/.exec(readme) ?? [];
  const body = (code as string).replace(/^import (\{.*\}) from '@svc\/jsonl-v23';$/m, 'const $1 = api;');
  expect(body).toContain('= api;');
  const printed: string[] = [];
  const console = { log: (...values: unknown[]) => printed.push(values.join(' ')) };
  const run = new Function('api', 'console', `return (async () => {${body}})();`);
  await run(api, console);
  expect(`${printed.join('\n')}\n`).toBe(output);
});

it.each([...Object.keys(api), ...Object.keys(json)])('the README names %s', (name) => {
  expect(readme).toContain(`\`${name}`);
});

it('docs/jsonl-v23.md computes a hash by hand', () => {
  const page = readFileSync(new URL('../../../docs/jsonl-v23.md', import.meta.url), 'utf8');
  const [, script = '', hash] = /^```\n(item=[\s\S]*?)^([0-9a-f]{64})\n```$/m.exec(page) ?? [];
  expect(execFileSync('sh', ['-c', script], { encoding: 'utf8' })).toBe(`${hash}\n`);
});
