import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server, STATUS_CODES } from 'node:http';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { newRequestId, runWithContext, UNMATCHED_PATH } from '@svc/observability';
import type { Logger } from '../../telemetry/create-logger.ts';
import type { Metrics } from '../../telemetry/create-metrics.ts';
import { problem } from '../problem.ts';
import { HTTP_PROBLEM_ROWS, type RequestErrorCode } from '../request/request-error.ts';

export interface HttpServerOptions {
  readonly app: RequestListener;
  readonly host: string;
  readonly port: number;
  /** Names of the environment variables of host and port, for error messages. */
  readonly variables: { readonly host: string; readonly port: string };
  readonly headersTimeoutMs: number;
  readonly version: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

export type HttpServer = Awaited<ReturnType<typeof startHttpServer>>;

/** How long running requests have to respond once they must end. */
const CLOSE_TIMEOUT_MS = 2000;

/** How long a connection may be open, at the start of a drain, before the first byte of its request. */
const FIRST_BYTE_TIMEOUT_MS = 1000;

/** How often a drain looks for connections that have become idle. */
const SWEEP_INTERVAL_MS = 50;

/** How often Node looks for connections whose headers are late. */
const CHECK_INTERVAL_MS = 1000;

/**
 * Starts an HTTP server on the address.
 *
 * @throws Error that names the address and the variable to change, when the address cannot be used
 */
export async function startHttpServer(options: HttpServerOptions) {
  const server = createHttpServer(options);
  const connections = openConnections(server);
  const mostKept = openFilesLimit() * KEPT_SHARE;
  server.prependListener('request', (_request, response) => {
    if (connections.size > mostKept) response.setHeader('Connection', 'close');
  });
  await listen(server, options);
  const { address, family, port } = server.address() as AddressInfo;
  options.logger.log('server.start', { host: address, port, version: options.version });

  const closed = once(server, 'close');
  let sweep: NodeJS.Timeout | undefined;
  let idleTimer: NodeJS.Timeout | undefined;
  const stopListening = (): void => {
    if (sweep !== undefined) return;
    server.close();
    server.closeIdleConnections();
    // A busy connection becomes idle with its response, and would then be kept for another request.
    sweep = setInterval(() => server.closeIdleConnections(), SWEEP_INTERVAL_MS);
    // Browsers and load balancers open connections in advance. Node counts them as busy, and would wait for them.
    idleTimer = setTimeout(() => {
      for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
    }, FIRST_BYTE_TIMEOUT_MS);
  };
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    /** Stops listening, and waits for running requests until `signal` aborts. Call `close` afterwards. */
    drain: async (signal: AbortSignal): Promise<void> => {
      await drainAcceptQueue(server);
      stopListening();
      if (signal.aborted) return;
      await Promise.race([closed, once(signal, 'abort')]);
    },
    /** Stops listening, and closes connections that are still open after two seconds. */
    close: async (): Promise<void> => {
      stopListening();
      const timer = setTimeout(() => server.closeAllConnections(), CLOSE_TIMEOUT_MS);
      await closed;
      clearTimeout(timer);
      clearTimeout(idleTimer);
      clearInterval(sweep);
    },
  };
}

/**
 * Longer than balancers keep idle connections (60 s): the side that sends the next request should be the one that closes, or a
 * request that is on its way meets a closed connection.
 */
const KEEP_ALIVE_MS = 75_000;

/**
 * The share of the file descriptors that connections may take and still be kept for another request: idle ones would leave
 * none for uploads and the database. A client that reads so in a response sends no request that would meet a closed connection.
 */
const KEPT_SHARE = 1 / 8;

/** How many file descriptors the process may have, where the system says so. */
function openFilesLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}

function createHttpServer({ app, logger, metrics, headersTimeoutMs }: HttpServerOptions): Server {
  const server = createServer(
    {
      headersTimeout: headersTimeoutMs,
      // Bodies have their own limits: a large upload over a slow line is fine.
      requestTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: Math.min(CHECK_INTERVAL_MS, headersTimeoutMs),
      // The app responds to a missing Host header, with a request id.
      requireHostHeader: false,
    },
    app,
  );
  const deps = { logger, metrics };
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
    } else if (error.code === 'HPE_HEADER_OVERFLOW') {
      rejectSocket(socket, 'invalid_request', 'The headers are too large.', deps, 431);
    } else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
      const detail = `The headers did not arrive within ${headersTimeoutMs} ms.`;
      rejectSocket(socket, 'request_timeout', detail, deps);
    } else rejectSocket(socket, 'invalid_request', 'The request is not valid HTTP/1.1.', deps);
  });
  server.on('connect', (_request, socket) => {
    rejectSocket(socket, 'method_not_allowed', 'CONNECT is not supported.', deps);
  });
  // An Expect header other than 100-continue may be ignored (RFC 9110 section 10.1.1).
  server.on('checkExpectation', app);
  return server;
}

type Address = Pick<HttpServerOptions, 'host' | 'port' | 'variables'>;

/** Finds out whether a server could listen on an address, before anything else is made. */
export async function checkAddress(address: Address): Promise<void> {
  const server = createServer();
  await listen(server, address);
  server.close();
  await once(server, 'close');
}

async function listen(server: Server, { host, port, variables }: Address): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new Error(`Cannot listen on ${host}:${port}: ${reasonOf(error, variables)}`, { cause: error });
  }
}

function reasonOf(error: unknown, variables: HttpServerOptions['variables']): string {
  const { code, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'EADDRINUSE':
      return `the port is in use. Stop the process that uses it, or set ${variables.port} to another port.`;
    case 'EACCES':
      return `permission denied. Set ${variables.port} to a port from 1024 on.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `this machine does not have the address. Set ${variables.host} to one that it has.`;
    default:
      return message;
  }
}

function openConnections(server: Server): ReadonlySet<Socket> {
  const connections = new Set<Socket>();
  server.on('connection', (socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  return connections;
}

/** How long the response may take to reach the client. */
const REJECT_TIMEOUT_MS = 1000;

/**
 * Responds to a request that Node cannot parse, with a request id, a log line and a count like any other response, and
 * closes the connection.
 */
function rejectSocket(
  socket: Duplex,
  code: RequestErrorCode,
  detail: string,
  { logger, metrics }: { readonly logger: Logger; readonly metrics: Metrics },
  status: number = HTTP_PROBLEM_ROWS[code].status,
): void {
  const requestId = newRequestId();
  const row = { ...HTTP_PROBLEM_ROWS[code], status };
  const body = problem({ code, row, detail, errors: [], headers: {} }, { instance: '', requestId });
  const bytes = Buffer.from(`${JSON.stringify(body)}\n`);
  metrics.startRequest({ method: 'OTHER' }).finish({ statusCode: status, durationMs: 0 });
  runWithContext({ request_id: requestId }, () => {
    logger.log('http.request', {
      method: 'OTHER',
      route: UNMATCHED_PATH,
      status_code: status,
      duration_ms: 0,
      bytes_in: 0,
      bytes_out: bytes.byteLength,
      code,
    });
  });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json',
    `Content-Length: ${bytes.byteLength}`,
    `X-Request-ID: ${requestId}`,
    'Connection: close',
  ];
  socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), bytes]));
  // Nothing more is read; a client that keeps its side open cannot keep the connection.
  const timer = setTimeout(() => socket.destroy(), REJECT_TIMEOUT_MS);
  timer.unref();
  socket.once('close', () => clearTimeout(timer));
}

/** How long a closing server keeps accepting connections, at most. */
const MAX_MS = 2000;

/**
 * Accepts the connections that are waiting in the queue of the operating system. Closing a listening socket would reset
 * them, though their clients may have sent whole requests already.
 */
export async function drainAcceptQueue(server: NetServer): Promise<void> {
  const startedAt = performance.now();
  let quietTurns = 0;
  const onConnection = (): void => {
    quietTurns = 0;
  };
  server.on('connection', onConnection);
  // libuv accepts one connection per turn of the event loop; the first turn here may be a partial one
  while (quietTurns < 3 && performance.now() - startedAt < MAX_MS) {
    quietTurns += 1;
    await nextTurn();
  }
  server.off('connection', onConnection);
}
