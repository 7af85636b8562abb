import type { IncomingMessage } from 'node:http';
import { isOrigin, parseAuthority } from './authority.ts';
import { schemeOf } from './forwarded.ts';
import { SESSION_COOKIE, SESSION_SECONDS } from './sessions.ts';

/** The `Set-Cookie` header that gives a browser a session. No script can read it, and no page of another site uses it. */
export function setSessionCookie(value: string, isSecure: boolean): string {
  return cookie(value, SESSION_SECONDS, isSecure);
}

/** The `Set-Cookie` header that ends the session. */
export function clearSessionCookie(isSecure: boolean): string {
  return cookie('', 0, isSecure);
}

function cookie(value: string, maxAgeSeconds: number, isSecure: boolean): string {
  const secure = isSecure ? '; Secure' : '';
  return `${SESSION_COOKIE}=${value}; Max-Age=${maxAgeSeconds}; Path=/; HttpOnly; SameSite=Strict${secure}`;
}

/**
 * The session cookie of a request, unless a page of another origin sent it: `SameSite` stops pages of other sites, but a
 * page on another port of the same host counts as the same site.
 */
export function readSessionCookie(request: IncomingMessage, trustProxy: boolean): string | undefined {
  const { cookie: cookies, origin, host, 'sec-fetch-site': site } = request.headers;
  if (cookies === undefined) return undefined;
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return undefined;
  const scheme = schemeOf(request, trustProxy);
  if (origin !== undefined && !isOrigin(origin, parseAuthority(host ?? '', scheme), scheme)) return undefined;
  const prefix = `${SESSION_COOKIE}=`;
  const pair = cookies.split(';').find((text) => text.trimStart().startsWith(prefix));
  return pair?.trim().slice(prefix.length);
}
