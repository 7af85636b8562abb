import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_IMPORT_LIMITS, ImportMeter } from '@svc/jsonl-v23/imports';
import { DEFAULT_LIMITS } from '@svc/pkg-format';
import { expect, it, onTestFinished } from 'vitest';
import { LostCounter } from '../lost.ts';
import { SampleStage } from './sample-stage.ts';

async function stageIn(): Promise<{ readonly folder: string; readonly stage: SampleStage }> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-stage-'));
  const limits = { limits: DEFAULT_LIMITS, meter: new ImportMeter(DEFAULT_IMPORT_LIMITS) };
  const stage = new SampleStage(join(folder, '0'), { ...limits, lost: new LostCounter(), keepSource: false });
  onTestFinished(async () => {
    await stage[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });
  return { folder, stage };
}

it('keeps lines of no section but the last one in memory', async () => {
  const { folder, stage } = await stageIn();
  for (const section of ['a', 'b']) {
    const item = { id: section };
    await stage.add({ section, key: '', item, sourceRow: undefined, result: null, location: {} });
  }
  expect(await readFile(join(folder, '0-items-0'), 'utf8')).toBe('{"id":"a"}\n');
});

it('lets the event loop turn while it sorts results', async () => {
  const { stage } = await stageIn();
  const count = 50_000;
  const result = { repetition: 1, output: '', error: null, scores: new Map() };
  for (let index = 0; index < count; index += 1) {
    const key = String(count - index);
    await stage.add({ section: 's', key, item: {}, sourceRow: undefined, result, location: {} });
  }
  await stage.flush(null);
  let turns = 0;
  const turn = (): void => {
    turns += 1;
    next = setImmediate(turn);
  };
  let next = setImmediate(turn);
  expect(await stage.countResults()).toBe(count);
  clearImmediate(next);
  expect(turns).toBeGreaterThan(1);
});
