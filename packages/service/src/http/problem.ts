import type { Redactor } from '@svc/observability';
import type { ErrorRequestHandler, Request, Response } from 'express';
import { parseAuthority } from '../config/authority.ts';
import type { Logger } from '../telemetry/create-logger.ts';
import {
  type FieldError,
  HTTP_PROBLEM_ROWS,
  type ProblemRow,
  RequestError,
} from './request/request-error.ts';
import { ClientDisconnectedError, requestState } from './request/track-request.ts';
import { endWithText } from './response/send-response.ts';

export interface ErrorView {
  readonly code: string;
  readonly row: ProblemRow;
  readonly detail: string;
  readonly errors: readonly FieldError[];
  /** Set if there are more errors than `errors` has. */
  readonly errorsTotal?: number | undefined;
  /** The valid names. */
  readonly available?: readonly string[] | undefined;
  /** How many are missing. */
  readonly missing?: number | undefined;
  /** What makes the service unavailable, as `/readyz` names it. */
  readonly reason?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

export type ProblemBody = ReturnType<typeof problem>;

/** Media type of an error for clients that ask for it (RFC 9457). */
export const PROBLEM_TYPE = 'application/problem+json';

/** Documents every code. */
const DOCUMENTATION = 'https://github.com/svc-data/svc/blob/main/docs/errors.md';

const MAX_ERRORS = 100;
const MAX_AVAILABLE = 1_000;
const isShort = ({ length }: string): boolean => length <= 256;

/** What the system reports when a disk, a quota, a file size or the number of open files is exhausted. */
const FULL: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);
const EXHAUSTED: ReadonlySet<unknown> = new Set([...FULL, 'EFBIG', 'EMFILE', 'ENFILE']);

/** Classifies the errors of the HTTP layer and of the system; any other error is internal, and its text stays here. */
export function classifyHttpError(error: unknown): ErrorView {
  if (error instanceof RequestError) {
    const { code, message, errors, headers, reason } = error;
    return { code, row: HTTP_PROBLEM_ROWS[code], detail: message, errors, headers, reason };
  }
  if (isExhausted(error)) {
    return {
      code: 'unavailable',
      row: HTTP_PROBLEM_ROWS.unavailable,
      detail: 'The server is at capacity. Retry later.',
      errors: [],
      reason: FULL.has((error as { code?: unknown }).code) ? 'full' : undefined,
      headers: { 'Retry-After': '10' },
    };
  }
  return {
    code: 'internal',
    row: HTTP_PROBLEM_ROWS.internal,
    detail:
      'Cannot complete the request. Give the request id to the operator, who finds the cause in the log.',
    errors: [],
    headers: {},
  };
}

/** Whether the operator should know of a 503: the system is exhausted, or something that we depend on failed. */
export function isOutage(view: ErrorView, error: unknown): boolean {
  if (view.code !== 'unavailable') return false;
  return isExhausted(error) || (error as { cause?: unknown }).cause !== undefined;
}

function isExhausted(error: unknown): boolean {
  return error instanceof Error && EXHAUSTED.has((error as { code?: unknown }).code);
}

/**
 * Makes the body of the response for an error.
 *
 * @param at the path and id of the request
 * @param redact removes secrets: a key that was pasted into a path or a body would end up in tickets and logs
 */
export function problem(
  view: ErrorView,
  at: { readonly instance: string; readonly requestId: string },
  redact: Redactor = (text) => text,
) {
  const { missing, reason, row } = view;
  const code = row.code ?? view.code;
  const errors = view.errors.slice(0, MAX_ERRORS).map((error) => redacted(error, redact));
  return {
    type: `${DOCUMENTATION}#${code}`,
    title: row.title,
    status: row.status,
    detail: redact(view.detail),
    instance: redact(at.instance),
    code,
    request_id: at.requestId,
    ...(errors.length === 0 ? {} : { errors, errors_total: view.errorsTotal ?? view.errors.length }),
    ...(missing !== undefined && { missing }),
    ...(reason !== undefined && { reason }),
    ...(view.available !== undefined && {
      available: view.available.filter(isShort).slice(0, MAX_AVAILABLE).map(redact),
    }),
  };
}

function redacted({ message, path, file, ...location }: FieldError, redact: Redactor): FieldError {
  return {
    message: redact(message),
    ...(path !== undefined && { path: redact(path) }),
    ...(file !== undefined && { file: redact(file) }),
    ...location,
  };
}

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
    const body = problem(view, { instance: request.path, requestId: state.observed.id }, redact);
    state.observed.code = body.code;
    const { method } = request;
    const { route } = state.observed;
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
    for (const [name, value] of Object.entries(view.headers)) response.setHeader(name, value);
    response.statusCode = body.status;
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

/** The page for a browser whose address the service does not respond to: it says what the operator sets. */
function refusedPage(host: string, detail: string): string {
  const name = parseAuthority(host, 'http')?.name ?? '';
  const setting = `SVC_ALLOWED_HOSTS=${name === '' ? 'name' : name}`;
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Unknown host name</title></head>
<body>
<main>
<h1>This service does not respond to this host name</h1>
<p>${escapeHtml(detail)}</p>
<p>To open the console at this address, set <code>${escapeHtml(setting)}</code> in the environment of the service and restart it.
On the machine of the service, and through a forwarded port, <code>http://localhost</code> with the port works without it.</p>
</main>
</body>
</html>
`;
}

/** A text in an element or an attribute of HTML. */
export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"]/g, (found) => `&#${found.charCodeAt(0)};`);
