import type { IncomingMessage } from 'node:http';
import { addressOf, networkOf } from '@svc/runtime';
import { requestState } from './track-request.ts';

/** Names the client of a request, for limits: its key, else its address. */
export function clientOf(request: IncomingMessage, trustProxy: boolean): string {
  const { key } = requestState(request).caller;
  return key === undefined ? networkOf(addressOf(request, trustProxy)) : `key ${key}`;
}
