import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { times } from '../../../tools/vitest/long.ts';
import { sanitiseRunConfig } from '../src/secrets/sanitise-run-config.ts';
import { sanitiseRunConfig as reference } from './reference-sanitiser.ts';

/** Linear work on a megabyte takes well under a second; quadratic work takes minutes. */
const MAX_MS = 30_000;
const CHARS = 500_000;

const filled = (part: string, chars = CHARS): string => part.repeat(Math.ceil(chars / part.length));

/** What the patterns look for, and what they stop at. */
const PIECES = [
  ...[
    'eyJ',
    'abcdefghijklmnop',
    'abcd1234efgh5678',
    '.',
    '-',
    '_',
    '\\',
    '\\\\\\"',
    '"',
    "'",
    '\n',
    '\t',
    ' ',
    '\u00a0',
    ':',
    '=',
  ],
  ...[
    '//',
    '@',
    '/',
    '?',
    '&',
    ';',
    'A',
    'AB',
    'aB',
    '9',
    'authorization',
    'Proxy-Authorization:',
    'cookie',
    'set-cookie:',
  ],
  ...[
    'Bearer ',
    'token ',
    'Basic dXNlcjpwYXNz',
    'Digest a=',
    'api_key',
    'PASSWORD',
    'sk-',
    'pk_',
    'hf_',
    'ghp_',
    'github_pat_',
  ],
  ...[
    'AKIAABCDEFGHIJKLMNOP',
    'AIza',
    '-----BEGIN PRIVATE KEY-----',
    '-----END PRIVATE KEY-----',
    '{',
    '}',
    '[',
    ']',
    ',',
  ],
];

describe('the sanitiser', () => {
  it('takes out exactly what the straightforward patterns take out', () => {
    const text = fc
      .array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 4 })), { maxLength: 14 })
      .map((parts) => parts.join(''));
    const name = fc.oneof(
      text,
      fc.constantFrom('system_prompt', 'checker', 'properties', 'description', 'auth', 'prompt_cache_key'),
    );
    const config = fc.dictionary(
      name,
      fc.oneof(
        text,
        fc.array(text, { maxLength: 3 }),
        fc.dictionary(name, fc.oneof(text, fc.dictionary(name, text, { maxKeys: 2 })), { maxKeys: 3 }),
      ),
      { maxKeys: 3 },
    );
    fc.assert(
      fc.property(config, (value) => {
        const secrets = ['abcdefghijklmnop'];
        expect(sanitiseRunConfig(value as JsonObject, secrets)).toEqual(
          reference(value as JsonObject, secrets),
        );
      }),
      { numRuns: times(2000, 400) },
    );
  });

  it.each<[string, () => JsonObject]>([
    ['newlines', () => ({ a: filled('\n') })],
    ['blanks', () => ({ a: filled(' ') })],
    ['backslashes', () => ({ a: filled('\\') })],
    ['quotes', () => ({ a: filled('"a":\\"') })],
    [
      'openings of every form',
      () => ({ a: filled(Array.from({ length: 40 }, (_, i) => `"a":${'\\'.repeat(i)}"`).join('')) }),
    ],
    ['a name of capitals', () => ({ [filled('A')]: 1 })],
    ['a name of digits', () => ({ [`a${filled('1')}b`]: 1 })],
    ['a pair with a name of capitals', () => ({ a: [{ name: filled('A'), value: 'x' }] })],
    ['beginnings of web tokens', () => ({ a: filled('eyJ-') })],
    ['web tokens', () => ({ a: filled('eyJabcdefgh.abcd.') })],
    ['keys of services', () => ({ a: filled('sk-a-') })],
    ['beginnings of authorities', () => ({ a: filled('//a:') })],
    ['assignments', () => ({ a: filled('a="') })],
    ['header names', () => ({ a: filled('authorization\n') })],
    ['beginnings of keys', () => ({ a: filled('-----BEGIN A') })],
    ['JSON in JSON', () => ({ a: JSON.stringify(JSON.stringify(JSON.stringify([filled('\n', 50_000)]))) })],
    [
      'names that become the same',
      () => Object.fromEntries(Array.from({ length: 40_000 }, (_, i) => [`hf_aaaaaaaaaaaaaaaa${i}`, i])),
    ],
  ])('takes time that grows with the text and no faster: %s', (_, config) => {
    const startMs = performance.now();
    canonicalJson(sanitiseRunConfig(config(), ['a-secret-of-the-process']));
    expect(performance.now() - startMs).toBeLessThan(MAX_MS);
  });
});
