import { expect, it } from 'vitest';
import { parseRunConfig } from '../evaluation/index.ts';
import { type TryRunDeps, tryRun } from './try-run.ts';

it('ends with the reason of its caller while it waits, and deletes its run', async () => {
  const stopping = new AbortController();
  const reason = new Error('The service is stopping.');
  const deleted: string[] = [];
  const runs = {
    sample: async () => [],
    create: async () => ({ id: 'trial' }),
    get: async () => {
      setImmediate(() => stopping.abort(reason));
      return { status: 'queued', finishedAt: null };
    },
    deleteTrial: async (id: string) => void deleted.push(id),
  };
  const tried = tryRun(
    { store: { runs } as unknown as TryRunDeps['store'], checks: { run: () => Promise.reject(reason) } },
    {
      ...{ datasetId: 'd', version: 1, count: 3, requestId: 'r', createdBy: null },
      config: parseRunConfig({
        provider: { type: 'openai_compatible', base_url: 'https://models.example/v1', model: 'm' },
      }),
      signal: stopping.signal,
    },
  );
  await expect(tried).rejects.toBe(reason);
  expect(deleted).toEqual(['trial']);
});
