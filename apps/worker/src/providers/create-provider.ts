import {
  type CheckRunner,
  type JudgeConfig,
  type Provider,
  type ProviderConfig,
  type RunConfig,
  scorersOf,
  wireFormatOf,
} from '@svc/evaluation';
import type { Logger, Metrics, ProviderKeys } from '@svc/service';
import type { Turns } from '@svc/service/flows';
import { createEchoProvider, createExternalProvider, createItemFieldProvider } from './local-providers.ts';
import { createModelProvider, type ModelProviderOptions } from './model-provider.ts';
import type { ProviderDispatcher } from './provider-dispatcher.ts';
import { providerKey } from './provider-key.ts';
import { createRequestPacer } from './request-pacer.ts';

export interface ProviderDeps {
  /** From `createProviderDispatcher`, one per process. */
  readonly dispatcher: ProviderDispatcher;
  /** The check threads of the process. */
  readonly checks: CheckRunner;
  readonly providerKeys: ProviderKeys;
  /** The turns of the process: one for each response. */
  readonly turns: Turns;
  readonly logger: Pick<Logger, 'log'>;
  readonly metrics: Pick<Metrics, 'recordProviderRequest' | 'recordProviderTokens'>;
}

export interface RunProviders {
  readonly provider: Provider;
  /** The judges, by the names of their scorers. */
  readonly judges: ReadonlyMap<string, Provider>;
}

/** The providers of a run: one for the outputs, and the judge model if the run has one. They share its rate limit. */
export function createProviders(config: RunConfig, deps: ProviderDeps): RunProviders {
  const shared: Shared = {
    ...deps,
    maxRetries: config.max_retries,
    timeoutMs: config.timeout_ms,
    pacer: createRequestPacer(config.requests_per_minute ?? null),
    keys: Object.values(deps.providerKeys).map(({ key }) => key.reveal()),
  };
  return {
    provider: createProvider(config.provider, shared),
    judges: new Map(
      scorersOf(config).flatMap(({ name, judge }) =>
        judge === null ? [] : [[name, createProvider(judge, shared)]],
      ),
    ),
  };
}

/** What the providers of a run share. */
type Shared = ProviderDeps & Pick<ModelProviderOptions, 'maxRetries' | 'timeoutMs' | 'pacer' | 'keys'>;

function createProvider(
  provider: ProviderConfig | JudgeConfig,
  { providerKeys, ...shared }: Shared,
): Provider {
  switch (provider.type) {
    case 'echo':
      return createEchoProvider();
    case 'external':
      return createExternalProvider();
    case 'item_field':
      return createItemFieldProvider(provider.pointer);
    case 'openai_compatible':
    case 'anthropic':
      return createModelProvider({
        ...shared,
        ...provider,
        wireFormat: wireFormatOf(provider),
        apiKey: providerKey(provider.api_key_env ?? null, provider.base_url, providerKeys),
      });
  }
}
