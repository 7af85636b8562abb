import { expect, it } from 'vitest';
import { until } from '../../../tools/vitest/until.ts';
import { startFakeProvider } from './fake-provider.ts';
import { startTestService } from './start-test-service.ts';

it('does not wait for those who watch a run when the API stops', async () => {
  await using provider = await startFakeProvider(() => 'hang');
  await using service = await startTestService();
  const { body: run } = await service.post('/runs', {
    dataset_id: await service.importItems([{ inputs: { prompt: 'p' } }]),
    config: {
      provider: { type: 'openai_compatible', base_url: provider.baseUrl, model: 'm' },
      allow_unscored: true,
    },
  });
  const response = await fetch(`${service.url}/runs/${run.id}/events`);
  const text = response.text();
  await until(provider.waiting, (waiting) => waiting === 1);
  const late = new AbortController();
  const stopped = service.stopApi(late.signal);
  // the stream ends in order, with no end event: the run continues
  expect(await text).toMatch(/^id: 1\nevent: progress\n/);
  expect(await text).not.toContain('event: end');
  await stopped;
  expect(late.signal.aborted).toBe(false);
});
