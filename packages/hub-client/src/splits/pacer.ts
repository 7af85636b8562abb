import { createYielder } from '@svc/tabular';

/** Reading the clock costs as much as looking at some names. */
const VALUES_PER_LOOK = 64;

/** Calls `use` for each value, in order, with turns of the event loop in between. */
export type Pacer = <T>(values: Iterable<T>, use: (value: T) => void) => Promise<void>;

/** Makes a pacer: all loops that share it have the thread for a few milliseconds at a time. */
export function createPacer(): Pacer {
  const nextTurn = createYielder();
  let count = 0;
  return async (values, use) => {
    for (const value of values) {
      use(value);
      count += 1;
      const turn = count % VALUES_PER_LOOK === 0 ? nextTurn() : undefined;
      if (turn !== undefined) await turn;
    }
  };
}
