import { runWithContext } from '@svc/observability';
import { expect, it } from 'vitest';
import { createLogger } from './create-logger.ts';

it('writes the ids of the context in one order, whatever order they were set in', () => {
  const lines: string[] = [];
  const write = (line: string): void => void lines.push(line);
  const now = (): Date => new Date(0);
  const logger = createLogger({ service: 'svc-worker', write, now, secrets: ['k3y'] });
  runWithContext({ job_id: 'j', span_id: 's', trace_id: 't' }, () =>
    runWithContext({ run_id: 'n', request_id: 'r' }, () => {
      logger.log('worker.run.start', { provider: 'of k3y' });
      logger.log('provider.request', {
        ...{ host: 'h', model: 'm', status_code: 200, attempt: 1, duration_ms: 1 },
      });
    }),
  );
  expect(lines).toEqual([
    '{"timestamp":"1970-01-01T00:00:00.000Z","level":"info","service":"svc-worker","event":"worker.run.start",' +
      '"request_id":"r","trace_id":"t","span_id":"s","run_id":"n","job_id":"j","provider":"of [redacted]"}\n',
  ]);
});

it('writes short lines for people', () => {
  const lines: string[] = [];
  const write = (line: string): void => void lines.push(line.slice(9));
  const logger = createLogger({ service: 'svc-api', write, format: 'text', secrets: ['k3y'] });
  logger.log('config.loaded', { settings: { SVC_PORT: 9000 } });
  logger.log('server.start', { host: '127.0.0.1', port: 9000, version: '1' });
  runWithContext({ request_id: 'r', actor: 'Ada' }, () => {
    logger.log('http.request', {
      ...{ method: 'GET', route: '/datasets', status_code: 200, duration_ms: 1.5, bytes_in: 0, bytes_out: 9 },
    });
    logger.log('error.internal', { error: new Error('of k3y\nand \u001b[2J'), method: 'GET' });
  });
  logger.log('job.finish', { kind: 'run', duration_ms: 2 } as never);
  expect(lines).toEqual([
    'configuration: SVC_PORT\n',
    'ready http://127.0.0.1:9000\n',
    'GET /datasets 200 1.5 ms\n',
    'error error.internal request_id=r error=of [redacted] and  [2J method=GET\n',
    'job.finish kind=run duration_ms=2\n',
  ]);
});
