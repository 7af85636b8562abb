import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';
import { schemeOf } from '../access/forwarded.ts';
import type { Middleware } from '../request/middleware.ts';

type Headers = readonly (readonly [name: string, value: string])[];

/**
 * Gives every answer the security headers that helmet chooses. They depend on the scheme alone, so helmet is asked
 * once for each and not with every request. What makes browsers insist on HTTPS is sent by HTTPS only: by plain HTTP
 * it would keep the pages of this service from loading. It holds for this host and for no others of its domain.
 */
export function securityHeaders(trustProxy: boolean): Middleware {
  const headers = { http: headersFor(false), https: headersFor(true) };
  return (request, response, next) => {
    for (const [name, value] of headers[schemeOf(request, trustProxy)]) response.setHeader(name, value);
    next();
  };
}

function headersFor(isSecure: boolean): Headers {
  return headersOf(
    helmet({
      strictTransportSecurity: isSecure ? { includeSubDomains: false } : false,
      contentSecurityPolicy: {
        directives: {
          'style-src': ["'self'", "'unsafe-inline'"],
          'upgrade-insecure-requests': isSecure ? [] : null,
        },
      },
    }),
  );
}

/** What a layer sets on an answer, whatever the request. */
function headersOf(layer: Middleware): Headers {
  const headers = new Map<string, string>();
  const answer = {
    setHeader: (name: string, value: string) => headers.set(name, value),
    removeHeader: (name: string) => headers.delete(name),
  };
  layer({} as IncomingMessage, answer as unknown as ServerResponse, (error) => {
    if (error !== undefined) throw error;
  });
  return [...headers];
}
