import {
  clearSessionCookie,
  empty,
  json,
  jsonBody,
  ok,
  type Route,
  type Schema,
  setSessionCookie,
  shape,
  unauthenticated,
} from '@svc/service';
import type { RouteDeps } from './deps.ts';

export const SESSION: Schema = shape({
  role: { type: 'string', enum: ['viewer', 'editor', 'admin'] },
  name: {
    type: 'string',
    description:
      'name of the key, or `key` and its position in SVC_API_KEYS; `anonymous` without configured keys',
  },
  anonymous: { type: 'boolean' },
  expires_at: { type: ['string', 'null'], format: 'date-time', description: 'null without a session' },
});

/** Sessions of browsers: a cookie instead of a key that the page would have to keep. */
export function sessionRoutes({ keys: { sessions, isOpen } }: RouteDeps): readonly Route[] {
  const common = {
    path: '/session',
    tag: 'session',
    access: 'anyone',
  } as const;
  return [
    {
      ...common,
      method: 'post',
      operationId: 'createSession',
      summary: 'Start a session with a key: 12 hours from its last use, 7 days at most',
      body: jsonBody({ key: { type: 'string', minLength: 1, maxLength: 512 } }, ['key']),
      responses: { 204: { description: 'the cookie `svc_session` holds the session' } },
      errors: ['unauthenticated', 'key_expired'],
      handle: async ({ body, identify, isSecure }) => {
        if (isOpen) return empty(204);
        const caller = identify(String(body['key']));
        const { key, role } = caller;
        if (key === undefined || role === null) throw unauthenticated(caller);
        return empty(204, { 'Set-Cookie': setSessionCookie(sessions.seal(key).value, isSecure) });
      },
    },
    {
      ...common,
      method: 'get',
      operationId: 'getSession',
      summary: 'Role and name of the caller, and the end of its session',
      responses: ok('the role; `anonymous` without configured keys', SESSION),
      errors: ['unauthenticated', 'key_expired'],
      handle: async ({ caller }) => {
        const { role, name, session } = caller;
        if (role === null) throw unauthenticated(caller);
        return json({ role, name, anonymous: isOpen, expires_at: session?.expiresAt ?? null }, 200, {
          'Cache-Control': 'no-store',
        });
      },
    },
    {
      ...common,
      method: 'delete',
      operationId: 'endSession',
      summary: 'End the session of this browser',
      responses: { 204: { description: 'the browser has no session' } },
      handle: async ({ isSecure }) => empty(204, { 'Set-Cookie': clearSessionCookie(isSecure) }),
    },
  ];
}
