import { readFileSync } from 'node:fs';
import * as json from '@svc/jsonl-v23/json';
import { expect, it } from 'vitest';
import * as datasets from '../src/datasets.ts';
import * as api from '../src/index.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

it('the example of the README prints what the README says', async () => {
  const [, code = '', output] = /```ts\n([\s\S]*?)```[\s\S]*?```\n([\s\S]*?)```/.exec(readme) ?? [];
  const body = code
    .replace(/^import (\{.*\}) from '@svc\/tabular';$/m, 'const $1 = api;')
    .replace(/^import (\{.*\}) from '@svc\/jsonl-v23\/json';$/m, 'const $1 = json;');
  expect(body).toContain('= api;');
  const printed: string[] = [];
  const console = { log: (...values: unknown[]) => printed.push(values.join(' ')) };
  await new Function('api', 'json', 'console', `return (async () => {${body}})();`)(api, json, console);
  expect(`${printed.join('\n')}\n`).toBe(output);
});

it.each(Object.keys({ ...api, ...datasets }))('the README names %s', (name) => {
  expect(readme).toContain(`\`${name}`);
});
