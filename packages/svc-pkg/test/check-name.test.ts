import { expect, it } from 'vitest';
import { checkName } from '../src/commands/define-operation.ts';

it.each([undefined, '😀'.repeat(200), 'n'.repeat(255)])(
  'accepts the name that the service accepts: %j',
  (name) => {
    expect(() => checkName(name)).not.toThrow();
  },
);

it.each(['', ' ', 'a\u0007', 'n'.repeat(256)])('refuses the name that the service refuses: %j', (name) => {
  expect(() => checkName(name)).toThrow(/^--name must have 1 to 255 characters/);
});
