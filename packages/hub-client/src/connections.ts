/** `@svc/hub-client/connections`: connections that go only where rules allow. It may change in any release. */
export type { Dispatcher } from 'undici';
export { bareHost, guardedConnector } from './http/guard-connections.ts';
export { openProxies } from './platform-node.ts';
