import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { VARIABLES, type Variable } from './variables.ts';

it('is documented variable by variable in docs/configuration.md', () => {
  const page = readFileSync(new URL('../../../../docs/configuration.md', import.meta.url), 'utf8');
  const documented = [...page.matchAll(/^\| `(SVC_\w+|HUB_\w+|DATABASE_\w+)` \| ([^|]+) \| (.+) \|$/gm)];
  expect(documented.map(([, name, fallback, text]) => ({ name, fallback, text }))).toEqual(
    Object.values<Variable<unknown>>(VARIABLES).map(({ name, default: fallback, description, secret }) => {
      return { name, fallback, text: `${description}${secret ? ' (secret)' : ''}` };
    }),
  );
});
