/** Helpers for the service's other packages. They may change in any release. */

export type { Dispatcher } from 'undici';
export { type DatasetRef, hubSchema } from './client/hub-schema.ts';
export { bareHost, guardedConnector } from './http/guard-connections.ts';
export { openProxies } from './platform-node.ts';
export { parseYamlApart } from './repository/parse-yaml-apart.ts';
export { withoutCredentials } from './repository/validate-path.ts';
