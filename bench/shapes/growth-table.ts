import { LineEncoder } from '@svc/jsonl-v23/lines';
import { spread } from '../measure.ts';
import { randomMaps } from './random-maps.ts';
import type { Shape } from './shape.ts';
import { shapeLines } from './shapes.ts';

/** Bytes of the smallest of three numbers of items, each twice as large as the one before: fewer end before V8 collects. */
const SMALLEST_BYTES = 24_000_000;
const RANDOM_SHAPES = 24;
const ROUNDS = 3;
/** Time per item of four times as many items by that of the smallest number. */
const MAX_GROWTH = 1.1;

/** How the CPU time per item of the encoder of uploads grows with the number of items, for each shape and for random ones. */
export function* growthTable(shapes: readonly Shape[]): Generator<string> {
  yield '';
  yield '| shape | µs per item: n | 2n by n | 4n by n | at most 1.1 |';
  yield '|---|---|---|---|---|';
  for (const shape of [...shapes, ...randomMaps(RANDOM_SHAPES, shapes.length)]) {
    const count = Math.max(1, Math.ceil(SMALLEST_BYTES / shape.lineBytes));
    const data = [count, 2 * count, 4 * count].map((items) => ({
      items,
      batches: lineBatches(shape, items),
    }));
    const rounds = Array.from({ length: ROUNDS + 1 }, () =>
      data.map(({ items, batches }) => {
        // A new one learns what an import learns.
        const encoder = new LineEncoder({ keepsItems: true });
        const before = process.threadCpuUsage();
        for (const batch of batches) for (const _ of encoder.encode(batch));
        const { user, system } = process.threadCpuUsage(before);
        return (user + system) / items;
      }),
    ).slice(1) as [number, number, number][];
    const [first, second, fourth] = [
      spread(rounds.map(([n]) => n)),
      spread(rounds.map(([n, twice]) => twice / n)),
      spread(rounds.map(([n, , fourTimes]) => fourTimes / n)),
    ].map(({ median }) => median) as [number, number, number];
    const isKept = Math.max(second, fourth) <= MAX_GROWTH;
    yield `| ${shape.name} | ${first.toFixed(1)} | ${second.toFixed(2)} | ${fourth.toFixed(2)} | ${isKept ? 'yes' : 'no'} |`;
  }
}

/** Items of a shape as batches of lines, as an upload cuts them. */
function lineBatches(shape: Shape, count: number) {
  return [...shapeLines(shape, count)].map((bytes) => {
    const lines = bytes.toString('latin1').split('\n').length - 1;
    return { bytes: new Uint8Array(bytes), firstLine: 1, lineCount: lines, itemCount: lines };
  });
}
