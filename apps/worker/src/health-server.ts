import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  acceptRequestId,
  type Logger,
  type Metrics,
  newRequestId,
  runWithContext,
  UNMATCHED_PATH,
} from '@svc/observability';
import { addressOf, type Config, createHostCheck, networkOf, schemeOf, slowDownFailures } from '@svc/runtime';

export interface AdminOptions {
  readonly config: Pick<
    Config,
    | 'workerHost'
    | 'workerPort'
    | 'metricsKey'
    | 'apiKeys'
    | 'headersTimeoutMs'
    | 'allowedHosts'
    | 'trustProxy'
    | 'failedKeysPerMinute'
  >;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly version: string;
  /** name of a dependency → whether it can be used now */
  readonly checkReadiness: () => Promise<Readonly<Record<string, boolean>>>;
  /** brings gauges up to date that are read only when metrics are asked for */
  readonly refreshMetrics: () => Promise<void>;
}

export interface RunningHealthServer {
  /** `http://host:port` */
  readonly url: string;
  stop(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** of an error */
  readonly code?: string;
}

type Path = '/healthz' | '/readyz' | '/metrics';
const PATHS: ReadonlySet<string> = new Set<Path>(['/healthz', '/readyz', '/metrics']);

/**
 * Serves a worker's own `/healthz`, `/readyz` and `/metrics`, with request ids, log lines, counts and error bodies as
 * those of the API.
 */
export async function startHealthServer(options: AdminOptions): Promise<RunningHealthServer> {
  const { config, logger, metrics } = options;
  const guardMetrics = createMetricsGuard(config);
  const checkHost = createHostCheck({
    listenHost: config.workerHost,
    allowedHosts: config.allowedHosts,
    isKeyed: config.apiKeys.length > 0 || config.metricsKey !== undefined,
  });

  async function answer(request: IncomingMessage, id: string, path: string): Promise<Answer> {
    const verdict = checkHost(request, schemeOf(request, config.trustProxy));
    if ('refused' in verdict) {
      return problem(
        verdict.refused === 'invalid_request' ? 400 : 421,
        verdict.refused,
        verdict.detail,
        id,
        path,
      );
    }
    if (!PATHS.has(path))
      return problem(404, 'not_found', `there is nothing at ${path.slice(0, 200)}`, id, path);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      const detail = `${request.method} is not allowed on ${path}`;
      return problem(405, 'method_not_allowed', detail, id, path, { Allow: 'GET, HEAD' });
    }
    switch (path as Path) {
      case '/healthz':
        logger.log('healthz.check');
        return jsonResponse(200, { status: 'ok' });
      case '/readyz': {
        const checks = await options.checkReadiness();
        const ready = Object.values(checks).every(Boolean);
        if (!ready) logger.log('readyz.fail', { checks });
        return ready
          ? jsonResponse(200, { status: 'ok', checks })
          : jsonResponse(503, { status: 'unavailable', checks }, { 'Retry-After': '1' });
      }
      case '/metrics': {
        const refused = guardMetrics(request);
        if (refused !== null)
          return problem(refused.status, refused.code, refused.detail, id, path, refused.headers);
        await options.refreshMetrics();
        return { status: 200, contentType: metrics.contentType, body: await metrics.render() };
      }
    }
  }

  const server = createServer(
    { headersTimeout: config.headersTimeoutMs, requireHostHeader: false },
    (request, response) => {
      const id = acceptRequestId(header(request, 'x-request-id'));
      const path = (request.url ?? '').split('?', 1)[0] ?? '';
      const route = PATHS.has(path) ? path : UNMATCHED_PATH;
      const startedAt = performance.now();
      const measurement = metrics.startRequest({ method: request.method, route });
      let code: string | undefined;
      let bytesOut = 0;
      response.once('close', () => {
        const statusCode = response.writableFinished ? response.statusCode : 499;
        const durationMs = performance.now() - startedAt;
        measurement.finish({ statusCode, durationMs });
        runWithContext({ request_id: id }, () => {
          logger.log('http.request', {
            method: request.method ?? '',
            route,
            status_code: statusCode,
            duration_ms: Math.round(durationMs * 1000) / 1000,
            bytes_in: 0,
            bytes_out: bytesOut,
            ...(code === undefined ? {} : { code }),
          });
        });
      });
      request.resume();
      void runWithContext({ request_id: id }, () =>
        answer(request, id, path).catch((error: unknown) => {
          logger.log('error.internal', { error, method: request.method ?? '', route });
          return problem(500, 'internal', 'The request could not be completed.', id, path);
        }),
      ).then((found) => {
        code = found.code;
        const body = Buffer.from(found.body);
        bytesOut = body.byteLength;
        response.statusCode = found.status;
        response.setHeader('X-Request-ID', id);
        response.setHeader('Content-Type', found.contentType);
        response.setHeader('Content-Length', body.byteLength);
        for (const [name, value] of Object.entries(found.headers ?? {})) response.setHeader(name, value);
        response.end(request.method === 'HEAD' ? undefined : body);
      });
    },
  );
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else refuse(socket, options);
  });
  server.listen(config.workerPort, config.workerHost);
  await once(server, 'listening');
  const { address, family, port } = server.address() as AddressInfo;
  logger.log('server.start', { host: address, port, version: options.version });
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Who may read the metrics, as the API has it: whoever has the metrics key or any API key; everyone where neither is
 * configured. Keys are compared by their digests, in constant time, and whoever tries many is slowed down.
 */
function createMetricsGuard({
  metricsKey,
  apiKeys,
  trustProxy,
  failedKeysPerMinute,
}: AdminOptions['config']): (request: IncomingMessage) => Refusal | null {
  const failures = slowDownFailures(failedKeysPerMinute);
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const secrets = [...apiKeys.map(({ key }) => key), ...(metricsKey === undefined ? [] : [metricsKey])];
  const known = secrets.map((secret) => digest(secret.reveal()));
  return (request) => {
    if (known.length === 0) return null;
    const token = /^Bearer +([\x21-\x7e]+) *$/i.exec(request.headers.authorization ?? '')?.[1];
    const given = digest(token ?? '');
    const [match] = known.flatMap((one, index) => (timingSafeEqual(one, given) ? [String(index)] : []));
    if (token !== undefined) {
      const waitSeconds = failures.attempt(networkOf(addressOf(request, trustProxy)), match);
      if (waitSeconds > 0) {
        const detail = `more than ${failedKeysPerMinute} wrong keys a minute`;
        return { status: 429, code: 'rate_limited', detail, headers: { 'Retry-After': String(waitSeconds) } };
      }
      if (match !== undefined) return null;
    }
    const detail = 'this needs a valid key in the Authorization header (scheme Bearer)';
    const headers = { 'WWW-Authenticate': 'Bearer realm="svc"' };
    return { status: 401, code: 'unauthenticated', detail, headers };
  };
}

function jsonResponse(status: number, body: object, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, contentType: 'application/json', body: JSON.stringify(body), headers };
}

function problem(
  status: number,
  code: string,
  detail: string,
  requestId: string,
  instance: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  const type = `https://github.com/svc-data/svc/blob/main/docs/errors.md#${code}`;
  const title = STATUS_CODES[status] ?? '';
  const body = { type, title, status, detail, instance, code, request_id: requestId };
  return { ...jsonResponse(status, body, headers), code };
}

/** What Node would answer by itself gets an id, a line and a count like any other answer. */
function refuse(socket: Duplex, { logger, metrics }: AdminOptions): void {
  const id = newRequestId();
  const { status, body, contentType } = problem(
    400,
    'invalid_request',
    'the request is not HTTP/1.1',
    id,
    '',
  );
  metrics.startRequest({ method: 'OTHER' }).finish({ statusCode: status, durationMs: 0 });
  runWithContext({ request_id: id }, () => {
    logger.log('http.request', {
      method: 'OTHER',
      route: UNMATCHED_PATH,
      status_code: status,
      duration_ms: 0,
      bytes_in: 0,
      bytes_out: Buffer.byteLength(body),
      code: 'invalid_request',
    });
  });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Content-Type: ${contentType}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-ID: ${id}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}
