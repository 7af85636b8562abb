// Serves /metrics, and logs and counts every request under the id that the client sent.
import { createServer } from 'node:http';
import { createLogger, createMetrics, event, observeRequest, runWithContext } from '@svc/observability';

const events = { 'page.view': event('info') };
const logger = createLogger({ service: 'shop', events });
const metrics = createMetrics({ prefix: 'shop', version: '1.0.0' });

createServer((request, response) => {
  const observed = observeRequest(request, response, { logger, metrics });
  observed.setRoute('/metrics');
  return runWithContext(observed.context, async () => {
    logger.log('page.view');
    response.setHeader('Content-Type', metrics.contentType).end(await metrics.render());
  });
}).listen(Number(process.env['PORT'] ?? 9464), '127.0.0.1');
