import type { Redactor } from '@svc/observability';
import type { ErrorRequestHandler, Request, Response } from 'express';
import { parseAuthority } from '../config/authority.ts';
import type { Logger } from '../telemetry/create-logger.ts';
import { type ErrorView, isOutage, PROBLEM_TYPE, problem } from './problem.ts';
import { RequestError } from './request/request-error.ts';
import { ClientDisconnectedError, requestState } from './request/track-request.ts';
import { endWithText } from './response/send-response.ts';

/** Headers of a successful response that do not fit an error. */
const SUCCESS_HEADERS = ['Content-Disposition', 'Content-Encoding', 'Content-Length', 'ETag', 'Location'];

/** Turns what a route or a middleware throws into a response, and logs internal errors and outages. */
export function errorHandler(
  logger: Logger,
  classify: (error: unknown, path: string) => ErrorView,
  redact: Redactor,
): ErrorRequestHandler {
  return async (thrown: unknown, request: Request, response: Response, _next): Promise<void> => {
    const state = requestState(request);
    const error = fromExpress(thrown);
    if (error instanceof ClientDisconnectedError || response.destroyed) return void response.destroy();
    const view = classify(error, request.path);
    const { status, headers, body } = problem(view, { instance: request.path, requestId: state.id }, redact);
    state.setCode(body.code);
    const { method } = request;
    const { route } = state;
    if (view.code === 'internal') logger.log('error.internal', { error, method, route });
    else if (isOutage(view, error)) logger.log('error.unavailable', { error, method, route });
    if (response.headersSent) {
      // A stream that failed half-way must not look complete.
      response.destroy();
      return;
    }
    for (const name of SUCCESS_HEADERS) response.removeHeader(name);
    const accepted = request.get('accept')?.toLowerCase() ?? '';
    const isForPeople = body.code === 'misdirected_request' && accepted.includes('text/html');
    const type = accepted.includes(PROBLEM_TYPE) ? PROBLEM_TYPE : 'application/json';
    response.setHeader('Content-Type', isForPeople ? 'text/html; charset=utf-8' : type);
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.statusCode = status;
    const text = isForPeople
      ? refusedPage(request.get('host') ?? '', body.detail)
      : `${JSON.stringify(body)}\n`;
    await endWithText(request, response, text);
  };
}

/** Express itself rejects paths with invalid percent-encoding. */
function fromExpress(error: unknown): unknown {
  if (error instanceof RequestError) return error;
  const isBadPath = error instanceof URIError || (error as { status?: number } | null)?.status === 400;
  if (!isBadPath) return error;
  return new RequestError('invalid_request', 'The path must be percent-encoded text.', { cause: error });
}

/**
 * The page for a browser whose address the service does not respond to: it says what the operator sets.
 *
 * @param host the `Host` header as it came
 * @param detail why the request was refused
 */
function refusedPage(host: string, detail: string): string {
  const name = parseAuthority(host, 'http')?.name ?? '';
  const setting = `SVC_ALLOWED_HOSTS=${name === '' ? 'name' : name}`;
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Unknown host name</title></head>
<body>
<main>
<h1>This service does not respond to this host name</h1>
<p>${escaped(detail)}</p>
<p>To open the console at this address, set <code>${escaped(setting)}</code> in the environment of the service and restart it.
On the machine of the service, and through a forwarded port, <code>http://localhost</code> with the port works without it.</p>
</main>
</body>
</html>
`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (found) => ENTITIES[found] ?? '');
