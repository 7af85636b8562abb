/** The servers that `/healthz` is compared with, each as a process of its own: `node http-servers.ts bare|middleware`. */
import express from 'express';

const app = express();
if (process.argv[2] === 'middleware') {
  const { pinoHttp } = await import('pino-http');
  const { default: promBundle } = await import('express-prom-bundle');
  app.use(pinoHttp());
  app.use(promBundle({ includeMethod: true, includePath: true }));
}
app.get('/healthz', (_request, response) => {
  response.json({ status: 'ok' });
});
const server = app.listen(0, '127.0.0.1', () => {
  process.stderr.write(`port ${(server.address() as { port: number }).port}\n`);
});
