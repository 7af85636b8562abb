import { createItemEncoder, createLineEncoder, parseLines } from '@svc/jsonl-v23/internal';
import type { Case, Sample } from '../measure.ts';
import type { Shape } from './shape.ts';
import { shapeLines } from './shapes.ts';

/** Lines of a batch, as an upload cuts them. */
const MAX_LINES = 100_000;
const MAX_BYTES = 50_000_000;
/** What the engine has compiled after them, it has compiled for all. */
const WARM_UP_BATCHES = 8;

/** CPU time of the encoder of uploads, against that of its reference path alone. */
export function encodeCase(label: string, shape: Shape, count: number): Case {
  const lineCount = Math.min(count, MAX_LINES, Math.ceil(MAX_BYTES / shape.lineBytes));
  const batches = lineBatches(shape, lineCount);
  const encoder = createLineEncoder({ keepsItems: true });
  const reference = createItemEncoder();
  const encodeAll = (some: typeof batches): void => {
    for (const batch of some) for (const _ of encoder.encode(batch));
  };
  const encodeByReference = (some: typeof batches): void => {
    for (const batch of some) for (const { item } of parseLines(batch)) reference.encode(item);
  };
  encodeAll(batches.slice(0, WARM_UP_BATCHES));
  encodeByReference(batches.slice(0, WARM_UP_BATCHES));
  return {
    name: `CPU time of the row encoder, ${label}`,
    baseline: 'its reference path alone: values, checks, canonical text, hash',
    runOurs: () => cpuTimed(() => encodeAll(batches)),
    runBaseline: () => cpuTimed(() => encodeByReference(batches)),
  };
}

/** Items of a shape as batches of lines, as an upload cuts them. */
export function lineBatches(shape: Shape, count: number) {
  return [...shapeLines(shape, count)].map((bytes) => {
    const lines = bytes.toString('latin1').split('\n').length - 1;
    return { bytes: new Uint8Array(bytes), firstLine: 1, lineCount: lines, itemCount: lines };
  });
}

async function cpuTimed(work: () => void): Promise<Sample> {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return { seconds: (user + system) / 1e6 };
}
