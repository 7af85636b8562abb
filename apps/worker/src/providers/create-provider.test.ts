import { createMetrics } from '@svc/service';
import { createCheckRunner, parseRunConfig } from '@svc/service/evaluation';
import { createTurns } from '@svc/service/flows';
import { describe, expect, it } from 'vitest';
import { createProviders } from './create-provider.ts';
import { createProviderDispatcher } from './provider-dispatcher.ts';

const signal = new AbortController().signal;

describe('createProviders', () => {
  const dispatcher = createProviderDispatcher({ allowedHosts: null });
  const checks = createCheckRunner({ threads: 0 });
  const metrics = createMetrics({ version: 'test', collectProcessMetrics: false });
  const logger = { log: () => undefined };
  const deps = { dispatcher, checks, turns: createTurns(), providerKeys: {}, logger, metrics };

  it('takes the outputs of a provider that sends no requests from the items', () => {
    const echo = createProviders(parseRunConfig({ provider: 'echo' }), deps);
    expect(echo.provider).toMatchObject({ usesMessages: true, outputSource: { from: 'last_message' } });
    expect(echo.judges.size).toBe(0);
    const field = createProviders(parseRunConfig({ provider: 'item_field', pointer: '/o' }), deps);
    const outputSource = { from: 'pointer', pointer: '/o' };
    expect(field.provider).toMatchObject({ usesMessages: false, outputSource });
  });

  it('creates a judge, and a missing key ends the run at the first request', async () => {
    const model = { base_url: 'http://127.0.0.1:1', model: 'm', api_key_env: 'SVC_PROVIDER_X' };
    const made = createProviders(
      parseRunConfig({ provider: { type: 'openai_compatible', ...model }, judge: model }),
      deps,
    );
    for (const provider of [made.provider, made.judges.get('main')]) {
      await expect(provider?.complete({ conversationJson: new Uint8Array() }, signal)).rejects.toMatchObject({
        code: 'provider_key_missing',
        endsRun: true,
      });
    }
  });
});
