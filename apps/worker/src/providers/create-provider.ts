import type { CheckRunner, Provider, ProviderConfig, RunConfig } from '@svc/evaluation';
import type { Turns } from '@svc/flows';
import type { Logger, Metrics } from '@svc/instrumentation';
import type { ProviderKeys } from '@svc/runtime';
import type { Dispatcher } from 'undici';
import { createEchoProvider } from './echo.ts';
import { createItemFieldProvider } from './item-field.ts';
import { createModelProvider } from './model-provider.ts';
import { providerKey } from './provider-key.ts';
import { createRequestPacer, type RequestPacer } from './request-pacer.ts';

export interface ProviderDeps {
  /** From `createProviderDispatcher`, one per process. */
  readonly dispatcher: Dispatcher;
  /** The check threads of the process. */
  readonly checks: CheckRunner;
  readonly providerKeys: ProviderKeys;
  /** The turns of the process: one for each response. */
  readonly turns: Turns;
  readonly logger: Pick<Logger, 'log'>;
  readonly metrics: Pick<Metrics, 'recordProviderRequest' | 'recordProviderTokens'>;
}

/** The providers of a run: one for the outputs, and the judge model if the run has one. They share its rate limit. */
export function createProviders(
  config: RunConfig,
  deps: ProviderDeps,
): { provider: Provider; judge: Provider | null } {
  const pacer = createRequestPacer(config.requestsPerMinute);
  return {
    provider: createProvider(config.provider, config, pacer, deps),
    judge: config.judge === null ? null : createProvider(config.judge, config, pacer, deps),
  };
}

function createProvider(
  provider: ProviderConfig,
  { maxRetries, timeoutMs }: Pick<RunConfig, 'maxRetries' | 'timeoutMs'>,
  pacer: RequestPacer,
  { providerKeys, ...deps }: ProviderDeps,
): Provider {
  switch (provider.type) {
    case 'echo':
      return createEchoProvider();
    case 'item_field':
      return createItemFieldProvider(provider.pointer);
    case 'openai_compatible':
    case 'anthropic':
      return createModelProvider({
        ...deps,
        ...provider,
        wireFormat: provider.type === 'anthropic' ? 'anthropic_messages' : 'chat_completions',
        apiKey: providerKey(provider.apiKeyEnv, provider.baseUrl, providerKeys),
        maxRetries,
        timeoutMs,
        pacer,
      });
  }
}
