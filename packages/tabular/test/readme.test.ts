import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import * as api from '../src/index.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

it('the example of the README prints what the README says', async () => {
  const [, code = '', output] = /```ts\n([\s\S]*?)```[\s\S]*?```\n([\s\S]*?)```/.exec(readme) ?? [];
  const body = code.replace(/^import (\{.*\}) from '@svc\/tabular';$/m, 'const $1 = api;');
  expect(body).toContain('= api;');
  const printed: string[] = [];
  const console = { log: (...values: unknown[]) => printed.push(values.join(' ')) };
  await new Function('api', 'console', `return (async () => {${body}})();`)(api, console);
  expect(`${printed.join('\n')}\n`).toBe(output);
});

it.each(Object.keys(api))('the README names %s', (name) => {
  expect(readme).toContain(`\`${name}`);
});
