import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { newRequestId, runWithContext, UNMATCHED_PATH } from '@svc/observability';
import type { Logger } from '../../telemetry/create-logger.ts';
import type { Metrics } from '../../telemetry/create-metrics.ts';
import { HTTP_PROBLEM_ROWS, problem } from '../problem.ts';
import type { RequestErrorCode } from '../request/request-error.ts';

/** How long the response may take to reach the client. */
const CLOSE_TIMEOUT_MS = 1000;

/**
 * Responds to a request that Node cannot parse, with a request id, a log line and a count like any other response, and
 * closes the connection.
 *
 * @param status in place of the status of the code
 */
export function rejectSocket(
  socket: Duplex,
  code: RequestErrorCode,
  detail: string,
  { logger, metrics }: { readonly logger: Logger; readonly metrics: Metrics },
  status = HTTP_PROBLEM_ROWS[code].status,
): void {
  const requestId = newRequestId();
  const row = { ...HTTP_PROBLEM_ROWS[code], status };
  const { body } = problem({ code, row, detail, errors: [], headers: {} }, { instance: '', requestId });
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
  const timer = setTimeout(() => socket.destroy(), CLOSE_TIMEOUT_MS);
  timer.unref();
  socket.once('close', () => clearTimeout(timer));
}
