import type { Logger, Metrics, ProviderKeys } from '@svc/service';
import {
  type CheckRunner,
  type JudgeConfig,
  type Provider,
  type ProviderConfig,
  type RunConfig,
  RunError,
  scorersOf,
  wireFormatOf,
} from '@svc/service/evaluation';
import type { Turns } from '@svc/service/flows';
import { createModelProvider, type ModelProviderOptions } from './model-provider.ts';
import type { ProviderDispatcher } from './provider-dispatcher.ts';
import { createRequestPacer } from './request-timing.ts';

export interface ProviderDeps {
  readonly dispatcher: ProviderDispatcher;
  readonly checks: CheckRunner;
  readonly providerKeys: ProviderKeys;
  /** The turns of the process: one for each response. */
  readonly turns: Turns;
  readonly logger: Pick<Logger, 'log'>;
  readonly metrics: Pick<Metrics, 'recordProviderRequest' | 'recordProviderTokens'>;
}

/** The judge models have the names of their scorers. All providers of a run share its rate limit. */
export function createProviders(config: RunConfig, deps: ProviderDeps) {
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

type Shared = ProviderDeps & Pick<ModelProviderOptions, 'maxRetries' | 'timeoutMs' | 'pacer' | 'keys'>;

function createProvider(
  provider: ProviderConfig | JudgeConfig,
  { providerKeys, ...shared }: Shared,
): Provider {
  switch (provider.type) {
    // To try a dataset or a deployment without a model.
    case 'echo':
      return sendsNothing(true, { from: 'last_message' });
    case 'external':
      return sendsNothing(false);
    case 'item_field':
      return sendsNothing(false, { from: 'pointer', pointer: provider.pointer });
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

/** The key that a run names, null if it names none; or the error that ends the run: each key is bound to its origins. */
export function providerKey(
  name: string | null,
  baseUrl: string,
  keys: ProviderKeys,
): string | null | RunError {
  if (name === null) return null;
  const found = Object.hasOwn(keys, name) ? keys[name] : undefined;
  if (found === undefined) {
    return new RunError('provider_key_missing', `The worker has no environment variable ${name}.`, {
      endsRun: true,
    });
  }
  const { origin } = new URL(baseUrl);
  if (!found.origins.includes(origin)) {
    return new RunError('provider_unauthorized', `The key in ${name} must not be sent to ${origin}.`, {
      endsRun: true,
    });
  }
  return found.key.reveal();
}

/** A provider that sends no requests: its outputs are taken from the items, or come from outside and are only scored again. */
function sendsNothing(usesMessages: boolean, outputSource?: Provider['outputSource']): Provider {
  return {
    usesMessages,
    outputSource,
    complete: async () => {
      throw new RunError('invalid_request', 'The run has no provider: clients send its results.');
    },
  };
}
