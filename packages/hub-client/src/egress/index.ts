/**
 * `@svc/hub-client/egress`: what every sender of requests in this repository needs to know of addresses and responses. It
 * may change in any release.
 */
export { isForbiddenAddress } from './address-set.ts';
export { namingProxy, ProxyError } from './proxy-error.ts';
export { parseRetryAfter } from './retry-after.ts';
