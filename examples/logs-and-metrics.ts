// Serves /metrics, and logs every request as one line of JSON under the id that the client sent.
import { createServer } from 'node:http';
import { acceptRequestId, createLogger, createMetrics, runWithContext } from '@svc/observability';

const events = { 'page.view': { level: 'info' } } as const;
const logger = createLogger<{ 'page.view': { path: string } }>({ service: 'shop', events });
const metrics = createMetrics({ version: '1.0.0' });

createServer(async ({ method, url = '', headers }, response) => {
  const request = metrics.startRequest({ method, route: '/metrics' });
  const request_id = acceptRequestId(headers['x-request-id']?.toString());
  runWithContext({ request_id }, () => logger.log('page.view', { path: url }));
  request.finish({ statusCode: 200, durationMs: 1 });
  response.setHeader('Content-Type', metrics.contentType).end(await metrics.render());
}).listen(Number(process.env['PORT'] ?? 9464), '127.0.0.1');
