import { describe, expect, it } from 'vitest';
import { encodeFilePath, validateDatasetPath, validateRevision, validateToken } from './validate-path.ts';

const errorOf = (run: () => unknown): { code?: string; message?: string } => {
  try {
    run();
  } catch (error) {
    return error as { code: string; message: string };
  }
  return {};
};

describe('validateDatasetPath', () => {
  it.each(['openai/gsm8k', 'squad', 'a/b', 'A_b.c-d/E.f_g-1', `${'o'.repeat(96)}/${'d'.repeat(96)}`])(
    'takes %s',
    (path) => {
      expect(validateDatasetPath(path)).toBe(path);
    },
  );

  it.each([
    '',
    '/',
    'a/',
    '/a',
    'a/b/c',
    'a//b',
    '..',
    '../etc/passwd',
    'a/..',
    './b',
    'a/.',
    'a..b/c',
    'a b/c',
    'a/b?x=1',
    'a/b#c',
    'a%2fb',
    'a\\b',
    'https://example.org/a',
    'a/b\n',
    'ä/b',
    `a/${'d'.repeat(97)}`,
    null,
    7,
    undefined,
  ])('refuses %j', (path) => {
    expect(errorOf(() => validateDatasetPath(path)).code).toBe('invalid_request');
  });
});

describe('validateRevision', () => {
  it.each([
    'main',
    'v1.0',
    '7b6d24c440a36b6815f21b70d25016731768db1f',
    'refs/convert/parquet',
    'refs/pr/12',
    'a@b',
  ])('takes %s', (revision) => {
    expect(validateRevision(revision)).toBe(revision);
  });

  it.each([
    '',
    '.',
    '..',
    'a..b',
    'a b',
    'a\nb',
    'a:b',
    'a?b',
    'a*b',
    'a[b',
    'a\\b',
    'a^',
    'a~1',
    '/a',
    'a/',
    'a//b',
    'a/.b',
    'a.lock',
    'a.lock/b',
    'a.',
    '-a',
    'a@{1}',
    '\ud800',
    'x'.repeat(256),
    5,
    null,
  ])('refuses %j', (revision) => {
    expect(errorOf(() => validateRevision(revision)).code).toBe('invalid_request');
  });
});

describe('validateToken', () => {
  it.each([undefined, null, ''])('%j is none', (token) => {
    expect(validateToken(token)).toBeUndefined();
  });

  it('takes visible ASCII', () => {
    expect(validateToken('hf_abc')).toBe('hf_abc');
    expect(validateToken('x'.repeat(512))).toHaveLength(512);
  });

  it.each(['hf_a b', 'hf_a\nx-evil: 1', 'hf_\u00e9', 'x'.repeat(513), 4, {}])(
    'refuses %j and does not repeat it',
    (token) => {
      const error = errorOf(() => validateToken(token));
      expect(error.code).toBe('invalid_request');
      expect(error.message).not.toContain('hf_');
    },
  );
});

it('encodeFilePath keeps slashes and encodes the rest', () => {
  expect(encodeFilePath('data/a b#1?.csv')).toBe('data/a%20b%231%3F.csv');
});
