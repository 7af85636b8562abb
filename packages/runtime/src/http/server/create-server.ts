import { createServer as createHttpServer, type RequestListener, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Logger, type Metrics, newRequestId, runWithContext } from '@svc/observability';

export interface ServerOptions {
  readonly app: RequestListener;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly headersTimeoutMs: number;
}

/** How long an answer to what is no request may take to reach its client. */
const CLOSE_TIMEOUT_MS = 1000;

/** How often Node looks for connections whose headers are late. */
const CHECK_INTERVAL_MS = 1000;

/**
 * Makes the HTTP server, not listening yet. What Node would answer by itself (a malformed request line, headers
 * that are too large or too late) gets a request id, a log line and a count like any other answer.
 */
export function createServer({ app, logger, metrics, headersTimeoutMs }: ServerOptions): Server {
  const server = createHttpServer(
    {
      headersTimeout: headersTimeoutMs,
      // Bodies have limits of their own: a large upload over a slow line is no fault.
      requestTimeout: 0,
      connectionsCheckingInterval: Math.min(CHECK_INTERVAL_MS, headersTimeoutMs),
      // A missing Host header is answered by the app, with a request id.
      requireHostHeader: false,
    },
    app,
  );
  const answer = (socket: Duplex, status: number, code: string, detail: string): void => {
    const id = newRequestId();
    const measurement = metrics.startRequest({ method: 'OTHER' });
    measurement.finish({ statusCode: status, durationMs: 0 });
    const title = STATUS_CODES[status] ?? '';
    const body = Buffer.from(
      JSON.stringify({
        type: `https://github.com/svc-data/svc/blob/main/docs/errors.md#${code}`,
        title,
        status,
        detail,
        instance: '',
        code,
        request_id: id,
      }),
    );
    runWithContext({ request_id: id }, () => {
      logger.log('http.request', {
        method: 'OTHER',
        route: '__unmatched__',
        status_code: status,
        duration_ms: 0,
        bytes_in: 0,
        bytes_out: body.byteLength,
        code,
      });
    });
    const head = [
      `HTTP/1.1 ${status} ${title}`,
      'Content-Type: application/json',
      `Content-Length: ${body.byteLength}`,
      `X-Request-ID: ${id}`,
      'Connection: close',
    ];
    socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), body]));
    // Nothing more is read from it; a client that keeps its side open does not keep ours.
    const timer = setTimeout(() => socket.destroy(), CLOSE_TIMEOUT_MS);
    timer.unref();
    socket.once('close', () => clearTimeout(timer));
  };
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
    } else if (error.code === 'HPE_HEADER_OVERFLOW') {
      answer(socket, 431, 'invalid_request', 'the headers are too large');
    } else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
      answer(socket, 408, 'request_timeout', `the headers did not arrive within ${headersTimeoutMs} ms`);
    } else answer(socket, 400, 'invalid_request', 'the request is not HTTP/1.1');
  });
  server.on('connect', (_request, socket) => {
    answer(socket, 405, 'method_not_allowed', 'this is no proxy');
  });
  // An Expect header other than 100-continue is no reason to refuse a request (RFC 9110 section 10.1.1 allows it).
  server.on('checkExpectation', app);
  return server;
}
