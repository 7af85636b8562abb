import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor, isSensitiveName } from './line-format.ts';

describe('createRedactor', () => {
  const redact = createRedactor(['s3cr$t/+', 's3cr$t/+longer', 'quo"te', '']);

  it.each([
    ['s3cr$t/+', '[redacted]'],
    ['a s3cr$t/+ b s3cr$t/+', 'a [redacted] b [redacted]'],
    ['s3cr$t/+longer', '[redacted]'],
    [encodeURIComponent('s3cr$t/+'), '[redacted]'],
    [JSON.stringify({ k: 'quo"te' }), '{"k":"[redacted]"}'],
    ['authorization: Bearer abcdef.ghi', 'authorization: Bearer [redacted]'],
    ['Basic dXNlcjpwYXNz', 'Basic [redacted]'],
    ['postgres://user:pw@host/db', 'postgres://[redacted]@host/db'],
    ['https://host/a@b', 'https://host/a@b'],
    ['nothing here', 'nothing here'],
    ['the bearer of news', 'the bearer of news'],
  ])('%j becomes %j', (text, expected) => {
    expect(redact(text)).toBe(expected);
  });

  it('leaves no secret in any text', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string(), fc.string(), (secret, before, after) => {
        fc.pre(!'[redacted]'.includes(secret));
        fc.pre(!before.includes(secret) && !after.includes(secret));
        const text = createRedactor([secret])(`${before}${secret}${after}`);
        expect(text).toContain('[redacted]');
      }),
    );
  });

  it('takes a lone surrogate', () => {
    expect(createRedactor(['\ud800x'])('a\ud800x')).toBe('a[redacted]');
  });
});

const names: { readonly secret: string[]; readonly notSecret: string[] } = JSON.parse(
  readFileSync(new URL('../../../conformance/secrets.json', import.meta.url), 'utf8'),
);

describe('isSensitiveName', () => {
  it.each([...names.secret, 'X-Api-Key', 'Set-Cookie'])('recognises %s', (name) => {
    expect(isSensitiveName(name)).toBe(true);
  });
  it.each([...names.notSecret, 'tokens', 'api_key_env', 'key', ''])('leaves %s', (name) => {
    expect(isSensitiveName(name)).toBe(false);
  });
});
