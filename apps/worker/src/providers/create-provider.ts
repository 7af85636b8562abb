import {
  type CheckRunner,
  fieldMissing,
  isIndex,
  type JudgeConfig,
  lastMessageText,
  type Provider,
  type ProviderConfig,
  pointerSteps,
  type RunConfig,
  RunError,
  scorersOf,
  wireFormatOf,
} from '@svc/evaluation';
import { getMember, isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import type { Logger, Metrics, ProviderKeys } from '@svc/service';
import type { Turns } from '@svc/service/flows';
import { createModelProvider, type ModelProviderOptions } from './model-provider.ts';
import type { ProviderDispatcher } from './provider-dispatcher.ts';
import { createRequestPacer } from './request-timing.ts';

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

/**
 * The key in the environment variable that a run names, if it may be sent to the run's provider: each key is bound to
 * its origins.
 *
 * @returns the key; null if the run names none; an error, which ends the run, if it must not be sent
 */
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

/** A provider that returns the text of the last message, to try a dataset or a deployment without a model. */
export function createEchoProvider(): Provider {
  return {
    usesMessages: true,
    outputSource: { from: 'last_message' },
    async complete({ messages }) {
      return { output: lastMessageText(messages), usage: null, finishReason: null, attempts: null };
    },
  };
}

/** The provider of a run whose outputs came from outside: a worker only scores them again. */
function createExternalProvider(): Provider {
  return {
    usesMessages: false,
    complete: async () => {
      throw new RunError('invalid_request', 'The run has no provider: clients send its results.');
    },
  };
}

/**
 * A provider that takes its outputs from the items, to score outputs from other tools. An item without a value at the
 * pointer fails with `field_missing`; null is an output.
 *
 * @param pointer JSON Pointer (RFC 6901) into the item
 */
export function createItemFieldProvider(pointer: string): Provider {
  const steps = pointerSteps(pointer);
  return {
    usesMessages: false,
    outputSource: { from: 'pointer', pointer },
    async complete({ item }) {
      let value: JsonValue | undefined = item;
      for (const step of steps) value = value === undefined ? undefined : memberOf(value, step);
      if (value === undefined) throw fieldMissing(pointer);
      return { output: value, usage: null, finishReason: null, attempts: null };
    },
  };
}

function memberOf(value: JsonValue, step: string): JsonValue | undefined {
  if (Array.isArray(value)) return isIndex(step) ? value[Number(step)] : undefined;
  return isJsonObject(value) ? getMember(value, step) : undefined;
}
