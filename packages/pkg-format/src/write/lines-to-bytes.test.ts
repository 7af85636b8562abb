import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeText, linesToBytes } from './lines-to-bytes.ts';

describe('encodeText', () => {
  it('gives the bytes of the text, whatever falls on the border of a piece', () => {
    const unit = fc.constantFrom('a', 'é', '€', '😀', '\n');
    fc.assert(
      fc.property(fc.integer({ min: 65_530, max: 65_540 }), fc.array(unit), (length, tail) => {
        const text = 'x'.repeat(length) + tail.join('') + '😀'.repeat(40_000);
        expect(Buffer.concat([...encodeText(text)]).equals(Buffer.from(text))).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('gives no piece of more than 256 KiB', () => {
    for (const piece of encodeText('€'.repeat(1_000_000)))
      expect(piece.byteLength).toBeLessThanOrEqual(262_144);
  });
});

describe('linesToBytes', () => {
  it('cuts long lines, and lets other work run between their pieces', async () => {
    let ticks = 0;
    const timer = setInterval(() => ticks++, 0);
    const line = '€'.repeat(10_000_000);
    const hash: Buffer[] = [];
    async function* batches(): AsyncGenerator<string[]> {
      yield ['short', line, 'last'];
    }
    for await (const chunk of linesToBytes(batches())) hash.push(Buffer.from(chunk));
    clearInterval(timer);
    expect(Math.max(...hash.map(({ length }) => length))).toBeLessThanOrEqual(262_144);
    expect(Buffer.concat(hash).equals(Buffer.from(`short\n${line}\nlast\n`))).toBe(true);
    expect(ticks).toBeGreaterThan(0);
  });
});
