import type { IncomingMessage } from 'node:http';
import { requestState } from '../request/track-request.ts';
import { addressOf } from './forwarded.ts';
import { networkOf } from './token-buckets.ts';

/** Names the client of a request for limits: its valid key, else its network. */
export function clientOf(request: IncomingMessage, trustProxy: boolean): string {
  const { key } = requestState(request).caller;
  return key === undefined ? networkOf(addressOf(request, trustProxy)) : `key ${key}`;
}
