import type { IncomingMessage, ServerResponse } from 'node:http';

/** What a request passes on its way. It asks for nothing of Express, so that it works in front of it too. */
export type Middleware = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;
