import { describe, expect, it } from 'vitest';
import { ExactNumber } from './json/index.ts';
import { redactValue, replaceSecrets, spellingsOf } from './known-secrets.ts';

describe('redactValue', () => {
  it('replaces known secrets in strings and names, and leaves numbers alone', () => {
    const secret = 'quote"and\\slash';
    const value = {
      output: `a ${secret}`,
      [secret]: [secret, JSON.stringify(secret)],
      latency_ms: 12345,
      n: 1234,
      exact: new ExactNumber('12345678901234567890'),
    };
    expect(redactValue(value, spellingsOf([secret, '1234']))).toEqual({
      output: 'a [redacted]',
      '[redacted]': ['[redacted]', '"[redacted]"'],
      latency_ms: 12345,
      n: 1234,
      exact: new ExactNumber('12345678901234567890'),
    });
  });
});

describe('a secret inside a text', () => {
  const secret = 'sk-proj-0123456789+/=?abcdef';
  const known = spellingsOf([secret]);

  it.each(['', 'B', 'Bearer ', 'Basic u:', '{"authorization":"Bearer '])(
    'is found in base64 after %j',
    (before) => {
      for (const after of ['', '"}', 'é, more']) {
        for (const encoding of ['base64', 'base64url'] as const) {
          const text = Buffer.from(before + secret + after).toString(encoding);
          const replaced = replaceSecrets(text, known);
          expect(replaced).toContain('[redacted]');
          // At most the bits of two characters remain.
          const rest = replaced
            .split('[redacted]')
            .map((part) => Buffer.from(part, encoding).toString('latin1'));
          expect(rest.join('')).not.toContain(secret.slice(1, 5));
          expect(rest.join('')).not.toContain(secret.slice(-5, -1));
        }
      }
    },
  );

  it.each([
    ['as it is', secret],
    ['percent-encoded', encodeURIComponent(secret)],
    ['in JSON text', JSON.stringify(secret)],
  ])('is found %s', (_, text) => {
    expect(replaceSecrets(`a ${text} b ${text}`, known)).not.toContain('0123456789');
  });
});
