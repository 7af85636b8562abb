import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import helmet from 'helmet';
import { isLoopback, parseAuthority } from '../../config/authority.ts';
import { schemeOf } from '../access/forwarded.ts';

/**
 * Adds the security headers of helmet. Headers that make browsers insist on HTTPS are sent over HTTPS only: over plain
 * HTTP they would keep the pages of this service from loading. They apply to this host and not to its subdomains.
 * `Cross-Origin-Opener-Policy` is sent only to trustworthy origins, where browsers follow it: over HTTPS, and to
 * loopback names. Elsewhere each page would log an error.
 */
export function securityHeaders(trustProxy: boolean): RequestHandler {
  const https = helmetFor({ isSecure: true, isTrustworthy: true });
  const loopback = helmetFor({ isSecure: false, isTrustworthy: true });
  const http = helmetFor({ isSecure: false, isTrustworthy: false });
  return (request, response, next) => {
    const isSecure = schemeOf(request, trustProxy) === 'https';
    (isSecure ? https : isOfMachine(request) ? loopback : http)(request, response, next);
  };
}

/** W3C Secure Contexts section 3.1: names of the machine itself. */
function isOfMachine({ headers }: IncomingMessage): boolean {
  const name = parseAuthority(headers.host ?? '', 'http')?.name ?? '';
  return isLoopback(name) || name.endsWith('.localhost');
}

function helmetFor({
  isSecure,
  isTrustworthy,
}: {
  readonly isSecure: boolean;
  readonly isTrustworthy: boolean;
}): ReturnType<typeof helmet> {
  return helmet({
    strictTransportSecurity: isSecure ? { includeSubDomains: false } : false,
    crossOriginOpenerPolicy: isTrustworthy,
    contentSecurityPolicy: {
      directives: {
        'style-src': ["'self'", "'unsafe-inline'"],
        'upgrade-insecure-requests': isSecure ? [] : null,
      },
    },
  });
}
