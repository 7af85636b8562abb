/** The servers that requests are compared with, each as a separate process: `node http-servers.ts bare|middleware|reads`. */
import { createStore } from '@svc/store';
import express, { type Request } from 'express';

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
  const searchOf = ({ query }: Request): { q?: string } =>
    typeof query['q'] === 'string' ? { q: query['q'] } : {};
  app.get('/datasets', async (request, response) => {
    const { data, nextCursor, totalItems } = await store.datasets.list({ limit: 50, ...searchOf(request) });
    const rows = data.map(({ schema, ...dataset }) => ({ ...dataset, schema: JSON.parse(schema) }));
    response.json({ data: rows, meta: { limit: 50, next_cursor: nextCursor, total_items: totalItems } });
  });
  app.get('/items', async (request, response) => {
    const page = await store.datasets.listItems(String(request.query['id']), {
      limit: 50,
      ...searchOf(request),
    });
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
  app.get('/results', async (request, response) => {
    const page = await store.runs.listResults(String(request.query['id']), { limit: 50 });
    const parsed = (text: string | null): unknown => JSON.parse(text ?? 'null');
    const data = page.data.map(({ itemHash, itemId, output, error, usage, judgeUsage, ...result }) => ({
      ...result,
      item_hash: itemHash === null ? null : Buffer.from(itemHash).toString('hex'),
      item_id: parsed(itemId),
      output: parsed(output),
      error: parsed(error),
      usage: parsed(usage),
      judge_usage: parsed(judgeUsage),
    }));
    page.release();
    const { nextCursor: next_cursor, totalItems: total_items } = page;
    response.json({ data, meta: { limit: 50, next_cursor, total_items } });
  });
}
const server = app.listen(0, '127.0.0.1', () => {
  process.stderr.write(`port ${(server.address() as { port: number }).port}\n`);
});
