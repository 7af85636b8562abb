import { describe, expect, it } from 'vitest';
import type { RunResult } from '../../evaluation/index.ts';
import { createResultWriter } from '../run-dataset.ts';

const result = (orderIndex: number): RunResult => ({ orderIndex }) as RunResult;

function slowStore() {
  const batches: number[][] = [];
  const release: (() => void)[] = [];
  const save = (results: readonly RunResult[]): Promise<void> => {
    batches.push(results.map((one) => one.orderIndex));
    return new Promise((resolve) => release.push(resolve));
  };
  return { batches, release, save };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('createResultWriter', () => {
  it('writes the first result immediately and the next ones together', async () => {
    const { batches, release, save } = slowStore();
    const writer = createResultWriter(save, 10);
    for (let i = 0; i < 4; i++) await writer.write(result(i));
    expect(batches).toEqual([[0]]);
    const flushed = writer.flush();
    release.shift()?.();
    await turn();
    expect(batches).toEqual([[0], [1, 2, 3]]);
    release.shift()?.();
    await flushed;
    await writer.write(result(4));
    expect(batches).toEqual([[0], [1, 2, 3], [4]]);
  });

  it('makes its caller wait if too many results wait', async () => {
    const { release, save } = slowStore();
    const writer = createResultWriter(save, 2);
    await writer.write(result(0));
    await writer.write(result(1));
    let written = false;
    const waiting = writer.write(result(2)).then(() => {
      written = true;
    });
    await turn();
    expect(written).toBe(false);
    release.shift()?.();
    await turn();
    release.shift()?.();
    await waiting;
  });

  it('rejects the next write and the flush after a failed write', async () => {
    const writer = createResultWriter(() => Promise.reject(new Error('no room')), 10);
    await writer.write(result(0)).catch(() => undefined);
    await turn();
    await expect(writer.write(result(1))).rejects.toThrow('no room');
    await expect(writer.flush()).rejects.toThrow('no room');
  });

  it('has nothing to flush at first', async () => {
    await createResultWriter(() => Promise.reject(new Error('never called')), 1).flush();
  });
});
