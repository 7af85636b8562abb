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
