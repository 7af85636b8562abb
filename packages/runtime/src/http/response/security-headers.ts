import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import helmet from 'helmet';
import { schemeOf } from '../access/forwarded.ts';

/**
 * Adds the security headers of helmet. Those that make browsers insist on HTTPS are sent over HTTPS only: over plain
 * HTTP they would keep the pages of this service from loading. They apply to this host and not to its subdomains.
 */
export function securityHeaders(trustProxy: boolean): RequestHandler {
  const headers = { http: headersOf(helmetFor(false)), https: headersOf(helmetFor(true)) };
  return (request, response, next) => {
    for (const [name, value] of headers[schemeOf(request, trustProxy)]) response.setHeader(name, value);
    next();
  };
}

/** The headers that a handler sets, which are the same for every request: helmet would put them together each time. */
function headersOf(handler: ReturnType<typeof helmet>): readonly (readonly [name: string, value: string])[] {
  const headers = new Map<string, string>();
  const recorder = {
    setHeader: (name: string, value: string): unknown => headers.set(name, value),
    removeHeader: (name: string): unknown => headers.delete(name),
  };
  handler({} as IncomingMessage, recorder as unknown as ServerResponse, (error) => {
    if (error !== undefined) throw error;
  });
  return [...headers];
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
