import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import * as api from '../src/index.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

it.each(Object.keys(api))('the README names %s', (name) => {
  expect(readme).toContain(`\`${name}`);
});
