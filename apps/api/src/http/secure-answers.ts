import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';
import type { Layer } from './layer.ts';

/**
 * Gives every answer the security headers that helmet chooses. They are the same for all, so helmet is asked once and
 * not with every request.
 */
export function secureAnswers(): Layer {
  const headers = headersOf(
    helmet({ contentSecurityPolicy: { directives: { 'style-src': ["'self'", "'unsafe-inline'"] } } }),
  );
  return (_request, response, next) => {
    for (const [name, value] of headers) response.setHeader(name, value);
    next();
  };
}

/** What a layer sets on an answer, whatever the request. */
function headersOf(layer: Layer): readonly (readonly [name: string, value: string])[] {
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
