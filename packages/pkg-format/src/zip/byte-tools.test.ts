import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nodeByteTools } from '../node/byte-tools.ts';
import { portableByteTools } from './byte-tools.ts';

const parts = fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 8 });

describe.each([
  ['portable', portableByteTools],
  ["Node's", nodeByteTools],
])('%s byte tools', (_, tools) => {
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
