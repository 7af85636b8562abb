import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import * as api from '../src/index.ts';
import { startFakeHub } from './fake-hub.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

it('the example of the README prints what the README says', async () => {
  const card =
    '---\nconfigs:\n- config_name: main\n  data_files:\n  - split: train\n    path: main/*.jsonl\n---\n';
  const rows = [1, 2, 3].map((n) => `{"question":"${n}+1?","answer":"#### ${n + 1}"}\n`).join('');
  await using hub = await startFakeHub({
    id: 'openai/gsm8k',
    files: { 'README.md': card, 'main/train.jsonl': rows },
  });
  const [, code = '', output] = /```ts\n([\s\S]*?)```[\s\S]*?```\n([\s\S]*?)```/.exec(readme) ?? [];
  const body = code.replace(/^import (\{.*\}) from '@svc\/hub-client';$/m, 'const $1 = api;');
  expect(body).toContain('= api;');
  const printed: string[] = [];
  const console = { log: (...values: unknown[]) => printed.push(values.join(' ')) };
  const run = new Function('api', 'console', 'process', `return (async () => {${body}})();`);
  await run(api, console, { env: { HUB_ENDPOINT: hub.endpoint } });
  expect(`${printed.join('\n')}\n`).toBe(output);
});

it.each(Object.keys(api))('the README names %s', (name) => {
  expect(readme).toContain(`\`${name}`);
});
