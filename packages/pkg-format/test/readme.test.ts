import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import * as portable from '../src/index.ts';
import * as node from '../src/node/index.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

it.each([...Object.keys(portable), ...Object.keys(node)])('the README names %s', (name) => {
  expect(readme).toContain(`\`${name}`);
});
