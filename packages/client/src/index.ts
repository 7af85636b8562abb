export { type ApiClient, type ClientOptions, createApiClient } from './create-api-client.ts';
export type { paths as Paths } from './generated/openapi.ts';
export type { ResponseOf } from './response-of.ts';
