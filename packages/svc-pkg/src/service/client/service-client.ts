import { Readable } from 'node:stream';
import { type ApiClient, createApiClient } from '@svc/client';
import { ProxyError } from '@svc/hub-client/egress';
import { isJsonObject, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import type { Dispatcher } from 'undici';
import { CliError } from '../../errors/cli-error.ts';
import { given } from '../../given.ts';
import { fetchThrough, type ResponseTexts } from './fetch-through.ts';
import { parseProblem } from './parse-problem.ts';
import type { JsonResponse, ServiceRequest } from './service-request.ts';

interface ServiceResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: AsyncIterable<Uint8Array>;
}

export interface ServiceClient {
  /** Such as `http://127.0.0.1:8080`, without a slash at the end. */
  readonly url: string;
  /** The typed client of the service, whose requests fail as `send` does, and for a response that is not JSON. */
  readonly api: ApiClient;
  /** A `fetch` for requests of `api` that the service responds to when everything is stored. */
  readonly slowFetch: (request: Request) => Promise<Response>;
  /**
   * Sends a request and returns the response, if its status is 2xx.
   *
   * @throws ServiceError for an error of the service; CliError `service_unreachable`, `connection_lost`,
   *   `bad_response`
   */
  send(request: ServiceRequest): Promise<ServiceResponse>;
  /** The document of a response of `api`, and its text as it arrived. */
  read<T>(reply: Promise<{ readonly data?: T; readonly response: Response }>): Promise<JsonResponse<T>>;
}

const RESPONSE_TIMEOUT_MS = 60_000;
const IDLE_TIMEOUT_MS = 120_000;
/** Documents of the service are much shorter; only streams are longer. */
const MAX_DOCUMENT_BYTES = 256 * 1024 * 1024;

/**
 * Sends requests to one service. Does not follow redirects, so that the key goes to no other host.
 *
 * @param options.url from `parseServiceUrl`
 * @param options.apiKey sent as a bearer token; undefined for a service without keys
 */
export function createServiceClient(options: {
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly userAgent: string;
  readonly dispatcher: Dispatcher;
  readonly signal: AbortSignal;
}): ServiceClient {
  const { url, apiKey, userAgent, dispatcher, signal } = options;
  const { origin, pathname } = new URL(url);

  async function send(request: ServiceRequest): Promise<ServiceResponse> {
    const query = given(request.query ?? {});
    const response = await attempt(url, signal, () =>
      dispatcher.request({
        origin,
        path: `${pathname.replace(/\/$/, '')}${request.path}`,
        ...(Object.keys(query).length > 0 && { query }),
        method: request.method,
        headers: {
          'user-agent': userAgent,
          ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
          ...request.headers,
        },
        body: toRequestBody(request.body),
        signal,
        headersTimeout: request.responseTimeoutMs ?? RESPONSE_TIMEOUT_MS,
        bodyTimeout: IDLE_TIMEOUT_MS,
      }),
    );
    const { statusCode: status, headers } = response;
    const body = readBody(url, signal, response.body);
    if (status >= 200 && status < 300) {
      if (!isPage(headers)) return { status, headers, body };
      response.body.on('error', () => undefined).destroy();
      throw new CliError('bad_response', `${url}${request.path} returned a page, not what was asked for`);
    }
    throw parseProblem({ status, headers, text: await collectText(body) });
  }

  /** Like `send`, for a response that is a JSON object; anything else is `bad_response`. */
  async function sendForJson(request: ServiceRequest): Promise<JsonResponse<unknown>> {
    const response = await send({
      ...request,
      headers: { accept: 'application/json', ...request.headers },
    });
    const text = await collectText(response.body);
    let value: JsonValue;
    try {
      value = parseJson(text);
    } catch (cause) {
      throw new CliError('bad_response', `${url}${request.path} returned something that is not JSON`, {
        cause,
      });
    }
    if (isJsonObject(value)) return { status: response.status, text, value };
    throw new CliError('bad_response', `${url}${request.path} returned something that is not a JSON object`);
  }

  const texts: ResponseTexts = new WeakMap();
  return {
    url,
    api: createApiClient({ baseUrl: url, fetch: fetchThrough(url, sendForJson, texts, false) }),
    slowFetch: fetchThrough(url, sendForJson, texts, true),
    send,
    async read<T>(reply: Promise<{ readonly data?: T; readonly response: Response }>) {
      const { data, response } = await reply;
      return { status: response.status, text: texts.get(response) ?? '', value: data as T };
    },
  };
}

/** Whether a response is HTML: of a proxy or a login, and never of the service. */
const isPage = (headers: ServiceResponse['headers']): boolean =>
  /^\s*(?:text\/html|application\/xhtml)/i.test([headers['content-type']].flat()[0] ?? '');

function toRequestBody(body: ServiceRequest['body']): string | Readable | null {
  return body === undefined || typeof body === 'string'
    ? (body ?? null)
    : Readable.from(body, { objectMode: false });
}

async function* readBody(
  url: string,
  signal: AbortSignal,
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) yield chunk;
  } catch (error) {
    throw transportError(url, signal, error, true);
  }
}

async function collectText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > MAX_DOCUMENT_BYTES)
      throw new CliError('bad_response', 'The response is too long for a JSON document');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

async function attempt<T>(url: string, signal: AbortSignal, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw transportError(url, signal, error, false);
  }
}

/** The error for a request without a response. An error of the request's body (the file it reads) stays as it is. */
function transportError(url: string, signal: AbortSignal, error: unknown, hasStarted: boolean): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof CliError) return error;
  const code = codeOf(error);
  const cause = { cause: error };
  if (hasStarted || BROKEN.has(code)) {
    return new CliError('connection_lost', `Connection to ${url} lost (${code})`, cause);
  }
  const target = error instanceof ProxyError ? `the proxy ${error.proxy}` : url;
  return new CliError('service_unreachable', `Cannot connect to ${target}: ${REASONS[code] ?? code}`, cause);
}

const BROKEN: ReadonlySet<string> = new Set([
  'ECONNRESET',
  'EPIPE',
  'UND_ERR_SOCKET',
  'UND_ERR_BODY_TIMEOUT',
]);

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'unknown host',
  EAI_AGAIN: 'the name server does not respond',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network unreachable',
  ETIMEDOUT: 'connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'connection timed out',
  UND_ERR_HEADERS_TIMEOUT: 'the service took too long to respond',
};

/** The code of an error, or of the first error inside it (attempts on several addresses are one error). */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if ('code' in error && typeof error.code === 'string') return error.code;
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  return error.cause === undefined ? error.name : codeOf(error.cause);
}
