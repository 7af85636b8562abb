import { describe, expect, it } from 'vitest';
import { ExactNumber } from './json/index.ts';
import { redactValue, replaceSecrets, spellingsOf } from './secrets.ts';

describe('redactValue', () => {
  const secret = 'a quote"and\\slash';

  it('replaces known secrets in strings and names, counts them, and leaves numbers alone', () => {
    const number = '1234567890123456';
    const value = {
      output: `a ${secret} and ${number}`,
      [secret]: [secret, JSON.stringify(secret)],
      '[redacted]': 1,
      latency_ms: 12345,
      n: Number(number),
      exact: new ExactNumber('12345678901234567890'),
    };
    expect(redactValue(value, spellingsOf([secret, number]))).toEqual({
      value: {
        output: 'a [redacted] and [redacted]',
        '[redacted]': ['[redacted]', '"[redacted]"'],
        '[redacted]_': 1,
        latency_ms: 12345,
        n: Number(number),
        exact: new ExactNumber('12345678901234567890'),
      },
      count: 5,
    });
  });

  it.each(['postgres', 'example', 'test', '"', 'fifteen letters', ''])(
    'leaves %j alone, which is no key by its length',
    (word) => {
      const value = { [`a ${word}`]: word, b: [`${word}${word} and words`] };
      expect(redactValue(value, spellingsOf([word]))).toEqual({ value, count: 0 });
    },
  );

  it('replaces the longer of two secrets, whichever comes first', () => {
    const longer = `${secret}-and-more`;
    for (const known of [
      [secret, longer],
      [longer, secret],
    ])
      expect(redactValue(`<${longer}>`, spellingsOf(known))).toEqual({ value: '<[redacted]>', count: 1 });
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
