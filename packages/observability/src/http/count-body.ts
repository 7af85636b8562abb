import type { IncomingMessage } from 'node:http';

/** Counts the bytes of a request's body as another listener reads them, without starting to read. */
export function countBody(request: IncomingMessage, count: (byteCount: number) => void): void {
  if (!awaitsBody(request)) return;
  const begin = (event: string): void => {
    if (event !== 'data' && event !== 'readable') return;
    request.off('newListener', begin);
    if (event === 'data') request.on('data', (chunk: Buffer) => count(chunk.byteLength));
    else countReads(request, count);
  };
  request.on('newListener', begin);
}

/** For a reader that takes the chunks itself, such as `for await`; a listener for `data` would disturb it. */
function countReads(request: IncomingMessage, count: (byteCount: number) => void): void {
  const { read } = request;
  request.read = function (size) {
    const chunk: unknown = read.call(this, size);
    if (typeof chunk === 'string') count(Buffer.byteLength(chunk));
    else if (chunk instanceof Uint8Array) count(chunk.byteLength);
    return chunk;
  };
}

/** Whether the request has a body (RFC 9112 section 6.3) that has not ended. */
function awaitsBody({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
