import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createIsoClock } from './iso-clock.ts';

it('writes every time as Date.prototype.toISOString does, in any order', () => {
  let time = new Date();
  const clock = createIsoClock(() => time);
  const near = fc.tuple(fc.date({ noInvalidDate: true }), fc.integer({ min: -1500, max: 1500 }));
  fc.assert(
    fc.property(near, ([date, milliseconds]) => {
      for (const at of [date.getTime(), date.getTime() + milliseconds]) {
        if (Number.isNaN(new Date(at).getTime())) continue;
        time = new Date(at);
        expect(clock()).toBe(time.toISOString());
      }
    }),
  );
});
