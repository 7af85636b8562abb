import { json, type Route } from '@svc/runtime';
import { HUB_READ } from './shared.ts';

/** `GET /api/whoami-v2`: whose key the request has. */
export function callerRoute(): Route {
  return {
    ...HUB_READ,
    path: '/api/whoami-v2',
    operationId: 'getHubCaller',
    summary: 'Name and role of the key; `anonymous` without configured keys',
    query: {},
    responses: { 200: { description: 'the key', schema: { type: 'object', additionalProperties: true } } },
    errors: [],
    handle: async ({ caller: { name, role } }) => {
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
