import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as jsonl from '@svc/jsonl-v23';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as portable from '../src/index.ts';
import * as node from '../src/node/index.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const examples = [...readme.matchAll(/```js\n([\s\S]*?)```[\s\S]*?```\n([\s\S]*?)```/g)].map(
  ([, code, output]) => [code!, output!],
);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pkg-readme-'));
});
afterAll(() => rm(folder, { recursive: true }));

it('has examples', () => {
  expect(examples).toHaveLength(2);
});

it.each(examples)('the example\n%s\nprints what the README says', async (code, output) => {
  const imports: Record<string, object> = {
    '@svc/pkg-format': portable,
    '@svc/pkg-format/node': node,
    '@svc/jsonl-v23': jsonl,
    'node:fs/promises': { writeFile },
  };
  const body = code
    .replace(
      /^import (\{[^}]*\}) from '([^']+)';$/gm,
      (_, names, from) => `const ${names} = imports['${from}'];`,
    )
    .replaceAll("'dataset.pkg.zip'", JSON.stringify(join(folder, 'dataset.pkg.zip')));
  const printed: string[] = [];
  const console = { log: (...values: unknown[]) => printed.push(values.join(' ')) };
  await new Function('imports', 'console', `return (async () => {${body}})();`)(imports, console);
  expect(`${printed.join('\n')}\n`).toBe(output);
});

it.each([...Object.keys(portable), ...Object.keys(node)])('the README names %s', (name) => {
  expect(readme).toContain(`\`${name}`);
});
