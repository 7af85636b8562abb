import { type Config, json, type Route, type Schema, shape } from '@svc/service';
import type { UsedModel } from '@svc/store';
import type { RouteDeps } from '../deps.ts';

import { RUN_READ } from './path-params.ts';

const TEXTS: Schema = { type: 'array', items: { type: 'string' } };

const PROVIDER: Schema = shape({
  name: {
    type: ['string', 'null'],
    description: 'name of the variable that holds the key (`api_key_env`); null for servers without a key',
  },
  origins: { ...TEXTS, description: 'origins that may receive the key, and origins of earlier runs' },
  models: { ...TEXTS, description: 'models of earlier runs, newest first' },
});

interface ListedProvider {
  readonly name: string | null;
  readonly origins: string[];
  readonly models: string[];
}

/** `GET /providers` */
export function providersRoute({ store: { runs }, config }: RouteDeps): Route {
  return {
    ...RUN_READ,
    path: '/providers',
    operationId: 'listProviders',
    summary: 'Providers that runs can name, and the models of earlier runs',
    access: 'editor',
    responses: {
      200: {
        description: 'the providers of the configuration, then those of earlier runs',
        schema: shape({ data: { type: 'array', items: PROVIDER } }),
      },
    },
    errors: ['unavailable'],
    handle: async () => {
      const found = listProviders(config.providerKeys, await runs.listModels());
      return json({ data: found.map((one) => ({ ...one })) });
    },
  };
}

/** One entry for each key, and for each origin without one. */
function listProviders(
  configured: Config['providerKeys'],
  used: readonly UsedModel[],
): readonly ListedProvider[] {
  const found = new Map<string, ListedProvider>();
  for (const [name, { origins }] of Object.entries(configured)) {
    found.set(name, { name, origins: [...origins], models: [] });
  }
  for (const { keyName, baseUrl, model } of used) {
    if (!URL.canParse(baseUrl)) continue;
    const { origin } = new URL(baseUrl);
    const entry = found.get(keyName ?? origin) ?? { name: keyName, origins: [], models: [] };
    found.set(keyName ?? origin, entry);
    if (!entry.origins.includes(origin)) entry.origins.push(origin);
    if (!entry.models.includes(model)) entry.models.push(model);
  }
  return [...found.values()];
}
