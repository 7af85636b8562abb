import type { JsonResponse, ServiceRequest } from './service-request.ts';

/** The documents of responses as they arrived. */
export type ResponseTexts = WeakMap<Response, string>;

/**
 * A `fetch` for `@svc/client` whose requests go through a service client: its key, proxies, limits and errors. It takes only
 * requests for documents, and throws for every response other than 2xx. An upload is responded to when everything is stored,
 * however long that takes.
 *
 * @param url of the service
 * @param texts receives the document of each response
 * @param isSlow whether the service takes long for all requests
 */
export function fetchThrough(
  url: string,
  sendForJson: (request: ServiceRequest) => Promise<JsonResponse<unknown>>,
  texts: ResponseTexts,
  isSlow: boolean,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const headers: Record<string, string> = Object.fromEntries(request.headers);
    // The length of an upload is known; all other bodies are short documents.
    const isUpload = headers['content-length'] !== undefined;
    const body = isUpload ? request.body : await request.text();
    const { status, text } = await sendForJson({
      method: request.method as ServiceRequest['method'],
      path: request.url.slice(url.length),
      headers,
      ...(body !== null && body !== '' && { body }),
      ...((isUpload || isSlow) && { responseTimeoutMs: 0 }),
    });
    const response = new Response(text, { status, headers: { 'content-type': 'application/json' } });
    Object.defineProperty(response, 'url', { value: request.url.replace(/\?.*/s, '') });
    texts.set(response, text);
    return response;
  };
}
