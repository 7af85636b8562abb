import { expect, it } from 'vitest';
import { createTurns } from './turns.ts';

it('lets the event loop turn between pieces of work that arrive together, and keeps their order', async () => {
  const turns = createTurns();
  let loops = 0;
  let timer: NodeJS.Immediate;
  const count = (): void => {
    loops += 1;
    timer = setImmediate(count);
  };
  count();
  const seen: [piece: number, loop: number][] = [];
  await Promise.all(
    Array.from({ length: 40 }, async (_, piece) => {
      await turns.take();
      seen.push([piece, loops]);
    }),
  );
  setImmediate(() => clearImmediate(timer));
  expect(seen.map(([piece]) => piece)).toEqual(Array.from({ length: 40 }, (_, piece) => piece));
  expect(
    Math.max(...Object.values(Object.groupBy(seen, ([, loop]) => loop)).map((of) => of?.length ?? 0)),
  ).toBe(4);
});

it('continues work that arrives alone immediately', async () => {
  const turns = createTurns();
  for (let piece = 0; piece < 3; piece += 1) {
    let isLater = false;
    const timer = setImmediate(() => {
      isLater = true;
    });
    await turns.take();
    expect(isLater).toBe(false);
    clearImmediate(timer);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
});
