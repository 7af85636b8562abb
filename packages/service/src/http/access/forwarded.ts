import type { IncomingMessage } from 'node:http';
import type { Scheme } from '../../config/authority.ts';

type Arrived = Pick<IncomingMessage, 'headers' | 'socket'>;

/**
 * The scheme that the client used. The service itself speaks plain HTTP; with `trustProxy`, the proxy in front of it
 * states the scheme in `X-Forwarded-Proto`.
 */
export function schemeOf({ headers }: Arrived, trustProxy: boolean): Scheme {
  return trustProxy && nearest(headers['x-forwarded-proto'])?.toLowerCase() === 'https' ? 'https' : 'http';
}

/** The origins of the service as clients write them: from `Host`, and with `trustProxy` from any `X-Forwarded-Host`. */
export function originsOf(request: Arrived, trustProxy: boolean): readonly string[] {
  const { host, 'x-forwarded-host': forwarded } = request.headers;
  const hosts = [host, trustProxy ? nearest(forwarded) : undefined];
  const addresses = hosts.filter(Boolean).map((name) => `${schemeOf(request, trustProxy)}://${name}`);
  return [...new Set(addresses.filter((one) => URL.canParse(one)).map((one) => new URL(one).origin))];
}

/** The address of the client; with `trustProxy`, the one that the proxy added to `X-Forwarded-For`. */
export function addressOf({ headers, socket }: Arrived, trustProxy: boolean): string {
  const forwarded = trustProxy ? nearest(headers['x-forwarded-for']) : undefined;
  return (forwarded || socket.remoteAddress) ?? '';
}

/** The last entry of a list: our proxy wrote it; clients can forge all entries before it. */
function nearest(header: string | string[] | undefined): string | undefined {
  return String(header ?? '')
    .slice(-256)
    .split(',')
    .at(-1)
    ?.trim();
}
