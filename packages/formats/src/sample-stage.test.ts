import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_IMPORT_LIMITS, ImportMeter } from '@svc/jsonl-v23/internal';
import { DEFAULT_LIMITS } from '@svc/pkg-format';
import { expect, it, onTestFinished } from 'vitest';
import { LostCounter } from './lost.ts';
import { SampleStage } from './sample-stage.ts';

it('lets the event loop turn while it sorts results', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-stage-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const limits = { limits: DEFAULT_LIMITS, meter: new ImportMeter(DEFAULT_IMPORT_LIMITS) };
  await using stage = new SampleStage(folder, { ...limits, lost: new LostCounter(), keepSource: false });
  const count = 50_000;
  const result = { repetition: 1, output: '', error: null, scores: new Map() };
  for (let index = 0; index < count; index += 1) {
    const key = String(count - index);
    await stage.add({ section: 's', key, item: {}, sourceRow: undefined, result, location: {} });
  }
  await stage.flush();
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
