import type { Provider, ProviderConfig, RunConfig } from '@svc/evaluation';
import type { Logger } from '@svc/observability';
import type { ProviderKeys } from '@svc/runtime';
import type { Dispatcher } from 'undici';
import { createEchoProvider } from './echo.ts';
import { createItemFieldProvider } from './item-field.ts';
import { createOpenAiCompatibleProvider } from './openai-compatible.ts';
import { providerKey } from './provider-key.ts';

/** What providers need of the worker. */
export interface ProviderSetup {
  /** from `createProviderDispatcher`, one for the process */
  readonly dispatcher: Dispatcher;
  readonly providerKeys: ProviderKeys;
  readonly logger: Pick<Logger, 'log'>;
}

/** The providers of a run: what gives the outputs, and the judge model where the run has one. */
export function createProviders(
  config: RunConfig,
  setup: ProviderSetup,
): { provider: Provider; judge: Provider | null } {
  const judge =
    config.judge === null
      ? null
      : createProvider({ type: 'openai_compatible', ...config.judge }, config, setup);
  return { provider: createProvider(config.provider, config, setup), judge };
}

function createProvider(
  provider: ProviderConfig,
  { maxRetries, timeoutMs }: Pick<RunConfig, 'maxRetries' | 'timeoutMs'>,
  { dispatcher, providerKeys, logger }: ProviderSetup,
): Provider {
  switch (provider.type) {
    case 'echo':
      return createEchoProvider();
    case 'item_field':
      return createItemFieldProvider(provider.pointer);
    case 'openai_compatible':
      return createOpenAiCompatibleProvider({
        ...provider,
        apiKey: providerKey(provider.apiKeyEnv, provider.baseUrl, providerKeys),
        maxRetries,
        timeoutMs,
        dispatcher,
        logger,
      });
  }
}
