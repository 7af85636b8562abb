/** The servers that requests are compared with, each as a separate process: `node http-servers.ts bare|middleware|reads`. */
import { createStore } from '@svc/store';
import express from 'express';

const kind = process.argv[2];
const app = express();
if (kind === 'middleware') {
  const { pinoHttp } = await import('pino-http');
  const { default: promBundle } = await import('express-prom-bundle');
  app.use(pinoHttp());
  app.use(promBundle({ includeMethod: true, includePath: true }));
}
app.get('/healthz', (_request, response) => {
  response.json({ status: 'ok' });
});
if (kind === 'reads') {
  const store = createStore({ url: process.env['DATABASE_URL'] ?? '' });
  app.get('/datasets', async (_request, response) => {
    const { data, nextCursor, totalItems } = await store.datasets.list({ limit: 50 });
    const rows = data.map(({ schema, ...dataset }) => ({ ...dataset, schema: JSON.parse(schema) }));
    response.json({ data: rows, meta: { limit: 50, next_cursor: nextCursor, total_items: totalItems } });
  });
  app.get('/items', async (request, response) => {
    const page = await store.datasets.listItems(String(request.query['id']), { limit: 50 });
    const data = page.data.map(({ payload, answer, section, itemHash, orderIndex }) => ({
      section,
      order_index: orderIndex,
      item_hash: Buffer.from(itemHash).toString('hex'),
      item: { ...JSON.parse(payload ?? '{}'), answer: JSON.parse(answer ?? 'null') },
    }));
    page.release();
    const { nextCursor: next_cursor, totalItems: total_items } = page;
    response.json({ data, meta: { limit: 50, next_cursor, total_items } });
  });
}
const server = app.listen(0, '127.0.0.1', () => {
  process.stderr.write(`port ${(server.address() as { port: number }).port}\n`);
});
