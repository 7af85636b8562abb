import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hex } from '../../test/arbitrary-json.ts';
import * as node from '../native-node.ts';
import * as noble from '../native-portable.ts';

describe.each([
  ['node:crypto', node],
  ['@noble/hashes', noble],
])('SHA-256 by %s', (_, { sha256, sha256Hex, createSha256 }) => {
  // FIPS 180-4 examples.
  it.each([
    ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    [
      'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
      '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
    ],
  ])('%j', (text, digest) => {
    expect(hex(sha256(text))).toBe(digest);
    expect(sha256Hex(new TextEncoder().encode(text))).toBe(digest);
    expect(hex(sha256(new TextEncoder().encode(text)))).toBe(digest);
  });

  it('in parts', () => {
    const state = createSha256();
    state.update('a');
    state.update(new Uint8Array([98]));
    state.update('c');
    expect(hex(state.digest())).toBe(hex(sha256('abc')));
  });

  it('gives plain Uint8Arrays of 32 bytes', () => {
    for (const digest of [sha256('x'), createSha256().digest()]) {
      expect(digest.constructor).toBe(Uint8Array);
      expect(digest).toHaveLength(32);
    }
  });
});

it('is the same in parts of any lengths, texts and bytes', () => {
  const parts = fc.array(fc.oneof(fc.uint8Array({ maxLength: 700 }), fc.string({ unit: 'binary' })), {
    maxLength: 5,
  });
  fc.assert(
    fc.property(parts, (given) => {
      const state = node.createSha256();
      for (const part of given) {
        // What is passed in may change afterwards.
        const copy = typeof part === 'string' ? part : part.slice();
        state.update(copy);
        if (typeof copy !== 'string') copy.fill(0);
      }
      const whole = Buffer.concat(given.map((part) => Buffer.from(part as Uint8Array)));
      expect(hex(state.digest())).toBe(hex(node.sha256(whole)));
    }),
  );
});

it('is the same in both implementations', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.string({ unit: 'binary' }), (bytes, text) => {
      expect(hex(node.sha256(bytes))).toBe(hex(noble.sha256(bytes)));
      expect(hex(node.sha256(text))).toBe(hex(noble.sha256(text)));
    }),
  );
});
