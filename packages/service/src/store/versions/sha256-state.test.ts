import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Sha256State } from './sha256-state.ts';

it('hashes as node:crypto does, in parts of any length, and continues from a saved state', () => {
  const parts = fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 8 });
  fc.assert(
    fc.property(parts, (given) => {
      const expected = createHash('sha256');
      let state = Sha256State.start();
      for (const part of given) {
        expected.update(part);
        state.update(part);
        const hash = expected.copy().digest('hex');
        expect(Buffer.from(state.digest()).toString('hex')).toBe(hash);
        state = Sha256State.resume(Buffer.concat([Buffer.from('xx'), state.save()]).subarray(2));
        expect(Buffer.from(state.digest()).toString('hex')).toBe(hash);
      }
    }),
  );
});
