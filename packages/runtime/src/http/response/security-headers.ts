import type { RequestHandler } from 'express';
import helmet from 'helmet';
import { schemeOf } from '../access/forwarded.ts';

/**
 * Adds the security headers of helmet. Those that make browsers insist on HTTPS are sent over HTTPS only: over plain
 * HTTP they would keep the pages of this service from loading. They apply to this host and not to its subdomains.
 */
export function securityHeaders(trustProxy: boolean): RequestHandler {
  const handlers = { http: helmetFor(false), https: helmetFor(true) };
  return (request, response, next) => handlers[schemeOf(request, trustProxy)](request, response, next);
}

function helmetFor(isSecure: boolean): ReturnType<typeof helmet> {
  return helmet({
    strictTransportSecurity: isSecure ? { includeSubDomains: false } : false,
    contentSecurityPolicy: {
      directives: {
        'style-src': ["'self'", "'unsafe-inline'"],
        'upgrade-insecure-requests': isSecure ? [] : null,
      },
    },
  });
}
