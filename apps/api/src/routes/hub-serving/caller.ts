import { type Config, json, type Route } from '@svc/runtime';
import { HUB_READ } from './shared.ts';

export interface CallerDeps {
  readonly config: Pick<Config, 'apiKeys'>;
}

/** `GET /api/whoami-v2`: whose key the request has. */
export function callerRoute({ config }: CallerDeps): Route {
  const isOpen = config.apiKeys.length === 0;
  return {
    ...HUB_READ,
    path: '/api/whoami-v2',
    operationId: 'getHubCaller',
    summary: 'Name and role of the key; `anonymous` without configured keys',
    query: {},
    responses: { 200: { description: 'the key', schema: { type: 'object', additionalProperties: true } } },
    errors: [],
    handle: async ({ caller: { key, role } }) => {
      const name = isOpen || key === undefined ? 'anonymous' : `key ${Number(key) + 1}`;
      return json({
        type: 'user',
        id: name,
        name,
        fullname: name,
        role: role ?? 'viewer',
        orgs: [],
        auth: { type: 'access_token', accessToken: { displayName: name, role: 'read' } },
      });
    },
  };
}
