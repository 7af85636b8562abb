import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { createApiClient, iteratePages, type Page, type PageQuery } from '@svc/client';
import { ProxyError } from '@svc/hub-client/egress';
import { isJsonObject, type JsonObject, type JsonValue, tryParseJson } from '@svc/jsonl-v23/json';
import { type Cli, given } from '../cli-context.ts';
import { CliError, type FieldError, ServiceError } from '../errors/cli-error.ts';

interface ServiceRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Relative to the service's URL; begins with "/". */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | AsyncIterable<Uint8Array>;
  /** How long the service may take to begin its response; 0 for no limit. */
  readonly responseTimeoutMs?: number;
}

export interface JsonResponse<T> {
  readonly status: number;
  /** The document as it arrived. */
  readonly text: string;
  readonly value: T;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

export type ServiceClient = ReturnType<typeof createServiceClient>;

const RESPONSE_TIMEOUT_MS = 60_000;
const IDLE_TIMEOUT_MS = 120_000;
/** Documents of the service are much shorter; only streams are longer. */
const MAX_DOCUMENT_BYTES = 256 * 1024 * 1024;

/** Declared: the inferred type has a `Uint8Array` with a parameter, which TypeScript before 5.7 does not know. */
interface ServiceResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Sends requests to one service. Does not follow redirects, so that the key goes to no other host. */
export function createServiceClient(cli: Cli, url: string, apiKey: string | undefined) {
  const { signal } = cli;
  const { origin, pathname } = new URL(url);

  /** For a status of 2xx. @throws ServiceError; CliError `service_unreachable`, `connection_lost`, `bad_response` */
  async function send(request: ServiceRequest): Promise<ServiceResponse> {
    const query = given(request.query ?? {});
    const { body: content = null } = request;
    const sending = cli.dispatcher().then((sender) =>
      sender.request({
        origin,
        path: `${pathname.replace(/\/$/, '')}${request.path}`,
        ...(Object.keys(query).length > 0 && { query }),
        method: request.method,
        headers: {
          'user-agent': `svc-pkg/${cli.version}`,
          ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
          ...request.headers,
        },
        body:
          typeof content === 'string' ? content : content && Readable.from(content, { objectMode: false }),
        signal,
        headersTimeout: request.responseTimeoutMs ?? RESPONSE_TIMEOUT_MS,
        bodyTimeout: IDLE_TIMEOUT_MS,
      }),
    );
    const response = await sending.catch((error: unknown) => {
      throw transportError(url, signal, error, false);
    });
    const { statusCode: status, headers } = response;
    const body = readBody(url, signal, response.body);
    if (status >= 200 && status < 300) {
      if (!isPage(headers)) return { status, headers, body };
      response.body.on('error', () => undefined).destroy();
      throw new CliError('bad_response', `${url}${request.path} returned a page, not what was asked for`);
    }
    throw parseProblem({ status, headers, text: await collectText(body) });
  }

  /** The documents of responses as they arrived. */
  const texts = new WeakMap<Response, string>();

  /** A `fetch` for `@svc/client`, for requests for JSON objects. @param isSlow whether all of them may take long */
  const fetchFor =
    (isSlow: boolean) =>
    async (request: Request): Promise<Response> => {
      const headers = { accept: 'application/json', ...Object.fromEntries(request.headers) };
      // The length of an upload is known; all other bodies are short documents.
      const isUpload = request.headers.has('content-length');
      const body = isUpload ? request.body : await request.text();
      const path = request.url.slice(url.length);
      const answer = await send({
        method: request.method as ServiceRequest['method'],
        ...{ path, headers },
        ...(body !== null && body !== '' && { body }),
        // The service responds to an upload when everything is stored, however long that takes.
        ...((isUpload || isSlow) && { responseTimeoutMs: 0 }),
      });
      const text = await collectText(answer.body);
      checkObject(text, `${url}${path}`);
      const { status } = answer;
      const response = new Response(text, { status, headers: { 'content-type': 'application/json' } });
      Object.defineProperty(response, 'url', { value: request.url.replace(/\?.*/s, '') });
      texts.set(response, text);
      return response;
    };

  return {
    /** Such as `http://127.0.0.1:8080`, without a slash at the end. */
    url,
    /** The typed client of the service. Its requests fail as `send` does, and for a response that is not JSON. */
    api: createApiClient({ baseUrl: url, fetch: fetchFor(false) }),
    /** A `fetch` for requests of `api` that the service answers after it has stored everything. */
    slowFetch: fetchFor(true),
    send,
    /** The document of a response of `api`, and its text as it arrived. */
    async read<T>(
      reply: Promise<{ readonly data?: T; readonly response: Response }>,
    ): Promise<JsonResponse<T>> {
      const { data, response } = await reply;
      return { status: response.status, text: texts.get(response) ?? '', value: data as T };
    },
  };
}

/** @throws CliError `bad_response` for a text that is not a JSON object */
function checkObject(text: string, address: string): void {
  const value = tryParseJson(text);
  if (isJsonObject(value)) return;
  const what = value === undefined ? 'JSON' : 'a JSON object';
  throw new CliError('bad_response', `${address} returned something that is not ${what}`);
}

/** Whether a response is HTML, which a proxy or a login sends, and never the service. */
const isPage = (headers: Headers): boolean =>
  /^\s*(?:text\/html|application\/xhtml)/i.test([headers['content-type']].flat()[0] ?? '');

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

/** Reads up to `limit` entries of a list. @returns the last page, with the entries of all */
export async function listPages<P extends Page<unknown>>(
  limit: number,
  read: (page: PageQuery) => Promise<{ data?: P; response: Response }>,
): Promise<P> {
  const data: P['data'][number][] = [];
  let last: P | undefined;
  for await (const page of iteratePages(read, limit)) {
    data.push(...page.data);
    last = page;
  }
  return { ...(last as P), data: data.slice(0, limit) };
}

const MAX_TRIES = 3;
const RETRY_DELAY_MS = 1000;

/** Tries again after a lost connection: with the same `Idempotency-Key`, the service creates one thing. */
export async function repeatLost<T>(cli: Cli, create: (idempotencyKey: string) => Promise<T>): Promise<T> {
  const idempotencyKey = randomUUID();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await create(idempotencyKey);
    } catch (error) {
      const isLost = error instanceof CliError && error.code === 'connection_lost';
      if (!isLost || attempt === MAX_TRIES) throw error;
      await sleep(RETRY_DELAY_MS * attempt, undefined, { signal: cli.signal });
    }
  }
}

/** The body has the members of RFC 9457 and `code`; what a proxy or another server sends becomes `bad_response`. */
export function parseProblem(response: {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}): Error {
  const { status } = response;
  const headerOf = (name: string): string | undefined => [response.headers[name]].flat()[0];
  const target = status < 400 ? headerOf('location') : undefined;
  if (target !== undefined) {
    const message = `The service returned status ${status} with a redirect to ${target.slice(0, 500)}; --api-url must be its own address`;
    return new CliError('bad_response', message);
  }
  const body = tryParseJson(response.text);
  const code = isJsonObject(body) ? body['code'] : undefined;
  if (!isJsonObject(body) || typeof code !== 'string' || !/^[a-z][a-z0-9_]*$/.test(code)) {
    const type = headerOf('content-type') ?? 'no content type';
    const message = `The service returned status ${status} with ${type} instead of a problem document`;
    return new CliError('bad_response', message);
  }
  const errors = Array.isArray(body['errors']) ? body['errors'].filter(isFieldError).slice(0, 100) : [];
  const total = body['errors_total'];
  const retryAfter = Number(headerOf('retry-after') ?? Number.NaN);
  const said = [body['detail'], body['title'], `The service returned status ${status}`];
  return new ServiceError(code, String(said.find((text) => typeof text === 'string' && text !== '')), {
    status,
    errors: errors.map(locatedError),
    errorsTotal: typeof total === 'number' ? total : errors.length,
    requestId: headerOf('x-request-id'),
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : undefined,
  });
}

const isFieldError = (value: JsonValue): value is JsonObject & { message: string } =>
  isJsonObject(value) && typeof value['message'] === 'string';

const MEMBERS = {
  code: 'string',
  path: 'string',
  file: 'string',
  line: 'number',
  column: 'number',
  row: 'number',
};

/** Only the known members, and only if they have the right type. */
function locatedError(error: JsonObject & { message: string }): FieldError {
  const known = Object.entries(MEMBERS).filter(([name, type]) => typeof error[name] === type);
  return { message: error.message, ...Object.fromEntries(known.map(([name]) => [name, error[name]])) };
}
