import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { CliError } from '../errors/cli-error.ts';
import { parseProblem } from './parse-problem.ts';

/** A request to the service. */
export interface ServiceRequest {
  readonly method: 'GET' | 'POST';
  /** below the service's URL, begins with "/" */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | AsyncIterable<Uint8Array>;
  /** how long the service may take to begin its answer; 0 as long as it likes */
  readonly responseTimeoutMs?: number;
}

interface ServiceResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: AsyncIterable<Uint8Array>;
}

/** An answer that is a JSON document. */
export interface JsonResponse<T> {
  readonly status: number;
  /** as it came */
  readonly text: string;
  readonly value: T;
}

export interface ServiceClient {
  /** As `http://127.0.0.1:8080`, without a slash at its end. */
  readonly url: string;
  /**
   * The answer, when its status is 2xx.
   *
   * @throws ServiceError for an answer that says what is wrong; CliError `service_unreachable`, `connection_lost`,
   *   `bad_response`
   */
  send(request: ServiceRequest): Promise<ServiceResponse>;
  /** As `send`, for an answer that is JSON; anything else is `bad_response`. */
  sendForJson<T>(request: ServiceRequest): Promise<JsonResponse<T>>;
}

const ANSWER_TIMEOUT_MS = 60_000;
const IDLE_TIMEOUT_MS = 120_000;
/** Documents of the service are far below this; only streams are longer. */
const MAX_DOCUMENT_BYTES = 256 * 1024 * 1024;

/**
 * Talks to one service. Redirects are not followed: the key goes nowhere else.
 *
 * @param options.url from `parseServiceUrl`
 * @param options.apiKey sent as bearer token; undefined for a service that asks for none
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
    const answer = await attempt(url, signal, () =>
      dispatcher.request({
        origin,
        path: `${pathname.replace(/\/$/, '')}${request.path}`,
        query: definedOf(request.query ?? {}),
        method: request.method,
        headers: {
          'user-agent': userAgent,
          ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
          ...request.headers,
        },
        body: toRequestBody(request.body),
        signal,
        headersTimeout: request.responseTimeoutMs ?? ANSWER_TIMEOUT_MS,
        bodyTimeout: IDLE_TIMEOUT_MS,
      }),
    );
    const { statusCode: status, headers } = answer;
    const body = readBody(url, signal, answer.body);
    if (status >= 200 && status < 300) return { status, headers, body };
    throw parseProblem({ status, headers, text: await collectText(body) });
  }

  return {
    url,
    send,
    async sendForJson<T>(request: ServiceRequest) {
      const answer = await send({ ...request, headers: { accept: 'application/json', ...request.headers } });
      const text = await collectText(answer.body);
      try {
        return { status: answer.status, text, value: JSON.parse(text) as T };
      } catch (cause) {
        throw new CliError(
          'bad_response',
          `${url} answered ${request.path} with something that is not JSON`,
          { cause },
        );
      }
    },
  };
}

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
      throw new CliError('bad_response', 'The answer is too long for a JSON document');
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

/** What kept a request from being answered. An error of the request's own body (the file it reads) stays as it is. */
function transportError(url: string, signal: AbortSignal, error: unknown, hasBegun: boolean): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof CliError) return error;
  const code = codeOf(error);
  const cause = { cause: error };
  if (hasBegun || BROKEN.has(code)) {
    return new CliError('connection_lost', `The connection to ${url} broke off (${code})`, cause);
  }
  return new CliError('service_unreachable', `${url} cannot be reached: ${REASONS[code] ?? code}`, cause);
}

const BROKEN: ReadonlySet<string> = new Set([
  'ECONNRESET',
  'EPIPE',
  'UND_ERR_SOCKET',
  'UND_ERR_BODY_TIMEOUT',
]);

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'its name cannot be looked up at the moment',
  EHOSTUNREACH: 'there is no way to the host',
  ENETUNREACH: 'there is no way to the network',
  ETIMEDOUT: 'the host does not answer',
  UND_ERR_CONNECT_TIMEOUT: 'the host does not answer',
  UND_ERR_HEADERS_TIMEOUT: 'the service took too long to answer',
};

/** The code of an error, or of the first error under it (attempts on several addresses come as one error). */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if ('code' in error && typeof error.code === 'string') return error.code;
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  return error.cause === undefined ? error.name : codeOf(error.cause);
}

function definedOf(query: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >;
}
