import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

/** A request as it arrived. */
export interface SeenRequest {
  method: string;
  /** With its query. */
  url: string;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

export type Handler = (
  request: SeenRequest,
  response: ServerResponse,
  raw: IncomingMessage,
) => void | Promise<void>;

export interface FakeService {
  readonly url: string;
  readonly requests: SeenRequest[];
}

/**
 * A service on a free port of this machine. Its handlers have keys `METHOD /path`, without a query; it responds to any
 * other request like the real service to an unknown path. It reads the whole body before it calls a handler, unless
 * the key of the handler begins with "raw ".
 */
export async function fakeService(handlers: Readonly<Record<string, Handler>>): Promise<FakeService> {
  const requests: SeenRequest[] = [];
  const server = createServer(async (raw, response) => {
    const { method = '', url = '', headers } = raw;
    const key = `${method} ${url.split('?')[0]}`;
    const isRaw = handlers[`raw ${key}`] !== undefined;
    const seen = {
      method,
      url,
      headers,
      body: isRaw ? Buffer.alloc(0) : await buffer(raw).catch(() => Buffer.alloc(0)),
    };
    requests.push(seen);
    const handler =
      handlers[`raw ${key}`] ?? handlers[key] ?? problem(404, 'not_found', 'There is nothing here');
    await handler(seen, response, raw);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

/** Responds with a JSON document. */
export const json =
  (document: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Handler =>
  (_request, response) => {
    const text = typeof document === 'string' ? document : JSON.stringify(document);
    response
      .writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'f00d', ...headers })
      .end(text);
  };

/** Responds with an error as the service does. */
export const problem = (
  status: number,
  code: string,
  detail: string,
  more: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
): Handler =>
  json(
    {
      type: `https://example.org/#${code}`,
      title: 'Title',
      status,
      detail,
      instance: '/',
      code,
      request_id: 'f00d',
      ...more,
    },
    status,
    headers,
  );

export const DATASET = {
  id: '7e0f6c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d',
  name: 'sample',
  handle: null,
  version: 1,
  version_count: 1,
  description: null,
  notes: null,
  version_hash: 'ab'.repeat(32),
  schema: { source: 'pkg_zip', package: { manifest: null, meta: null } },
  section_count: 1,
  item_count: 2,
  asset_count: 0,
  sections: [],
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
};
