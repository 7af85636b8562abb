import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Cli } from '../cli-context.ts';
import { toFailure } from '../errors/failure.ts';
import { printNote } from '../output/print.ts';
import { count, flag, operation } from './define-operation.ts';

type Sdk = typeof import('../mcp/sdk.ts');
type Connect = () => InstanceType<Sdk['McpServer']>;

export const mcp = operation({
  summary: 'serve tools for agents (Model Context Protocol)',
  description:
    'Serves eight tools for agents on standard input and output: datasets, items, import, run, failures, compare, label ' +
    'and edit. It ends with its input.',
  options: {
    allowWrites: flag('--allow-writes', 'allow import, run, label and edit (default: only tools that read)'),
    http: count('--http <port>', 'serve HTTP on this port of 127.0.0.1, at /mcp; 0 for any', 0, 65_535),
  },
  examples: ['svc-pkg mcp --api-url https://datasets.example.org', 'svc-pkg mcp --allow-writes --http 8090'],
  async run({ allowWrites = false, http }, cli, open) {
    const service = await open();
    const [sdk, { createTools }] = await Promise.all([import('../mcp/sdk.ts'), import('../mcp/tools.ts')]);
    const connect = () => createTools({ cli, service, allowWrites });
    await (http === undefined ? serveStreams(cli, sdk, connect) : serveHttp(cli, sdk, connect, http));
  },
});

async function serveStreams(cli: Cli, sdk: Sdk, connect: Connect): Promise<void> {
  const server = connect();
  const ended = once(cli.stdin, 'end', { signal: cli.signal });
  await server.connect(new sdk.StdioServerTransport(cli.stdin, cli.stdout));
  try {
    await ended;
  } finally {
    await server.close();
  }
}

/** In bytes: longer requests are refused. */
const MAX_REQUEST_BYTES = 4 * 1024 * 1024;
const MAX_CONNECTIONS = 64;

/** Each request has its own server, which keeps nothing. */
async function serveHttp(cli: Cli, sdk: Sdk, connect: Connect, port: number): Promise<void> {
  const listener = createServer(async (request, response) => {
    try {
      const refused = refusal(request, (listener.address() as AddressInfo).port);
      if (refused !== null) return void response.writeHead(refused).end();
      const body = await readBody(request);
      if (body === null) return void response.writeHead(413, { connection: 'close' }).end();
      const server = connect();
      const transport = new sdk.WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
      response.on('close', () => void server.close());
      await server.connect(transport as Parameters<typeof server.connect>[0]);
      const headers = request.headers as Record<string, string>;
      const url = `http://${request.headers.host}/mcp`;
      const answer = await transport.handleRequest(new Request(url, { method: 'POST', headers, body }));
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
    } catch (error) {
      await fail(cli, response, error);
    }
  });
  listener.maxConnections = MAX_CONNECTIONS;
  listener.listen(port, '127.0.0.1');
  await once(listener, 'listening', { signal: cli.signal });
  const { port: bound } = listener.address() as AddressInfo;
  await printNote(cli, `Tools for agents at http://127.0.0.1:${bound}/mcp`);
  try {
    await once(listener, 'close', { signal: cli.signal });
  } finally {
    listener.closeAllConnections();
    listener.close();
  }
}

/** A page of another origin, or a name that points to this machine, would use the key and the files of the user. */
function refusal({ url, method, headers }: IncomingMessage, port: number): number | null {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
  if (!hosts.includes(headers.host ?? '')) return 403;
  if (headers.origin !== undefined && !hosts.some((host) => headers.origin === `http://${host}`)) return 403;
  if (url !== '/mcp') return 404;
  return method === 'POST' ? null : 405;
}

/** The body of a request; null if it is too long. */
async function readBody(request: IncomingMessage): Promise<Buffer<ArrayBuffer> | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.byteLength;
    if (size > MAX_REQUEST_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function fail(cli: Cli, response: ServerResponse, error: unknown): Promise<void> {
  await printNote(cli, `Cannot answer a request: ${toFailure(error).message}`);
  if (!response.headersSent) response.writeHead(500);
  response.end();
}
