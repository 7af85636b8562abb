import type { CheckRunner, Provider, ProviderConfig, RunConfig } from '@svc/evaluation';
import type { Logger } from '@svc/observability';
import type { ProviderKeys } from '@svc/runtime';
import type { Dispatcher } from 'undici';
import { createEchoProvider } from './echo.ts';
import { createItemFieldProvider } from './item-field.ts';
import { createOpenAiCompatibleProvider } from './openai-compatible.ts';
import { providerKey } from './provider-key.ts';

export interface ProviderDeps {
  /** From `createProviderDispatcher`, one per process. */
  readonly dispatcher: Dispatcher;
  /** The check threads of the process. */
  readonly checks: CheckRunner;
  readonly providerKeys: ProviderKeys;
  readonly logger: Pick<Logger, 'log'>;
}

/** The providers of a run: one for the outputs, and the judge model if the run has one. */
export function createProviders(
  config: RunConfig,
  deps: ProviderDeps,
): { provider: Provider; judge: Provider | null } {
  const judge =
    config.judge === null
      ? null
      : createProvider({ type: 'openai_compatible', ...config.judge }, config, deps);
  return { provider: createProvider(config.provider, config, deps), judge };
}

function createProvider(
  provider: ProviderConfig,
  { maxRetries, timeoutMs }: Pick<RunConfig, 'maxRetries' | 'timeoutMs'>,
  { dispatcher, checks, providerKeys, logger }: ProviderDeps,
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
        checks,
        logger,
      });
  }
}
