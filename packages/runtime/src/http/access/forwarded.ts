import type { IncomingMessage } from 'node:http';
import type { Scheme } from './authority.ts';

type Arrived = Pick<IncomingMessage, 'headers' | 'socket'>;

/**
 * The scheme by which a client sent a request. This service speaks plain HTTP: only a proxy in front of it, which
 * is trusted when `trustProxy` is set, can say otherwise in `X-Forwarded-Proto`.
 */
export function schemeOf({ headers }: Arrived, trustProxy: boolean): Scheme {
  return trustProxy && nearest(headers['x-forwarded-proto'])?.toLowerCase() === 'https' ? 'https' : 'http';
}

/** The address of a client; behind a trusted proxy, the one that this proxy saw and added to `X-Forwarded-For`. */
export function addressOf({ headers, socket }: Arrived, trustProxy: boolean): string {
  const forwarded = trustProxy ? nearest(headers['x-forwarded-for']) : undefined;
  return (forwarded || socket.remoteAddress) ?? '';
}

/** The last entry of a list: the proxy next to us wrote it, and whatever stands before it may come from anybody. */
function nearest(header: string | string[] | undefined): string | undefined {
  return String(header ?? '')
    .slice(-256)
    .split(',')
    .at(-1)
    ?.trim();
}
