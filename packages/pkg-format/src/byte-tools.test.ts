import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { portableByteTools } from './byte-tools.ts';
import { toHex } from './hex.ts';
import { nodeByteTools } from './node/byte-tools.ts';

const parts = fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 8 });

describe.each([
  ['portable', portableByteTools],
  ["Node's", nodeByteTools],
])('%s byte tools', (_, tools) => {
  it('make the SHA-256 of parts as of the whole', () => {
    fc.assert(
      fc.property(parts, (chunks) => {
        const hash = tools.createSha256();
        for (const chunk of chunks) hash.update(chunk);
        expect(toHex(hash.digest())).toBe(createHash('sha256').update(Buffer.concat(chunks)).digest('hex'));
      }),
    );
  });

  it.each([0, 1, 55, 56, 63, 64, 65, 119, 120, 128])('pad %i bytes', (length) => {
    const bytes = new Uint8Array(length).fill(0xa5);
    const hash = tools.createSha256();
    hash.update(bytes);
    expect(toHex(hash.digest())).toBe(createHash('sha256').update(bytes).digest('hex'));
  });

  it('make the CRC-32 of parts as of the whole', () => {
    fc.assert(
      fc.property(parts, (chunks) => {
        expect(chunks.reduce((crc, chunk) => tools.crc32(chunk, crc), 0)).toBe(crc32(Buffer.concat(chunks)));
      }),
    );
  });

  it('read base64 back', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(Buffer.from(tools.decodeBase64(Buffer.from(bytes).toString('base64'))!)).toEqual(
          Buffer.from(bytes),
        );
      }),
    );
  });

  it.each(['A', 'AA', 'AAA', 'QR==', 'AAA\n', ' AAAA', 'AA=A', '-_-_', 'AAAA=', '='])(
    'refuse %j, which is no canonical base64',
    (text) => {
      expect(tools.decodeBase64(text)).toBeNull();
    },
  );
});
