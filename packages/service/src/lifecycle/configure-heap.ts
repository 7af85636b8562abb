import { setFlagsFromString } from 'node:v8';

/** How much the heap may grow beyond what is alive before it is collected, in percent of that. */
const HEAP_GROWING_PERCENT = 100;

/**
 * Has V8 collect garbage less often. An import streams gigabytes through buffers, whose bytes V8 counts as growth of the
 * heap. Left to itself it would allow the heap to grow by some megabytes only, and look through some thirty megabytes
 * that are all alive a hundred times in a few seconds: half of the work of an import. Where V8 does not know the flag,
 * it says so on standard error and continues.
 *
 * @see https://nodejs.org/api/v8.html#v8setflagsfromstringflags
 */
export function configureHeap(): void {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
}
