export { parseYamlApart } from '#platform';
export {
  createHubClient,
  type FindDatasetsOptions,
  type HubClient,
  type HubClientOptions,
  type HubTimeouts,
  type OpenDatasetOptions,
  PUBLIC_HUB,
} from './client/client.ts';
export type { HubDataset, SelectOptions } from './client/dataset.ts';
export type { FoundDataset } from './client/find-datasets.ts';
export { DEFAULT_REVISION } from './client/snapshot.ts';
export {
  type DatasetRef,
  type HubRow,
  type HubSplit,
  hubSchema,
  type ReadRowsOptions,
  type SplitReader,
} from './client/split-reader.ts';
export { HubError, type HubErrorCode, type HubErrorDetails, type HubErrorOptions } from './errors.ts';
export type { RequestEvent, RequestKind, RetryEvent, RetryPolicy } from './http/request.ts';
export { DEFAULT_RETRY_POLICY } from './http/retry.ts';
export type { FetchFunction, FetchResponse } from './http/transport.ts';
export {
  validateDatasetPath,
  validateRevision,
  validateToken,
  withoutCredentials,
} from './repository/validate-path.ts';
export { parseSplit, resolveSplit } from './splits/split-slice.ts';
