import { parseRunConfig } from '@svc/evaluation';
import { describe, expect, it } from 'vitest';
import { createProviders } from './create-provider.ts';
import { createProviderDispatcher } from './provider-dispatcher.ts';

const signal = new AbortController().signal;

describe('createProviders', () => {
  const dispatcher = createProviderDispatcher({ allowedHosts: null });
  const setup = { dispatcher, providerKeys: {}, logger: { log: () => undefined } };

  it('makes the provider of each type', async () => {
    const echo = createProviders(parseRunConfig({ provider: 'echo' }), setup);
    expect(
      await echo.provider.answer({ item: {}, messages: [{ role: 'user', content: 'x' }] }, signal),
    ).toMatchObject({ output: 'x' });
    expect(echo.judge).toBeNull();
    const field = createProviders(parseRunConfig({ provider: 'item_field', pointer: '/o' }), setup);
    expect(await field.provider.answer({ item: { o: 5 }, messages: [] }, signal)).toMatchObject({
      output: 5,
    });
  });

  it('makes a judge, and a missing key ends the run at the first question', async () => {
    const model = { base_url: 'http://127.0.0.1:1', model: 'm', api_key_env: 'SVC_PROVIDER_X' };
    const made = createProviders(
      parseRunConfig({ provider: { type: 'openai_compatible', ...model }, judge: model }),
      setup,
    );
    for (const provider of [made.provider, made.judge]) {
      await expect(provider?.answer({ item: {}, messages: [] }, signal)).rejects.toMatchObject({
        code: 'provider_key_missing',
        endsRun: true,
      });
    }
  });
});
