import { describe, expect, it } from 'vitest';
import { isDatasetName } from './dataset-name.ts';

describe('isDatasetName', () => {
  it.each(['n', '  n ', '😀'.repeat(255), 'n'.repeat(255), 'a\u2028b'])('accepts %j', (name) => {
    expect(isDatasetName(name)).toBe(true);
  });

  it.each([
    '',
    '   ',
    '\u00a0\ufeff',
    'a\0b',
    'a\u0085b',
    '\ud800',
    '😀'.repeat(256),
    'n'.repeat(256),
    7,
    null,
  ])('refuses %j', (name) => {
    expect(isDatasetName(name)).toBe(false);
  });
});
