/** `@svc/client`: a typed client of the API, and helpers for what takes longer than one request. */
export { ApiError, unwrap } from './api-error.ts';
export {
  type ChangedDataset,
  type ChangeOptions,
  type CheckedChange,
  changeItems,
  checkChange,
  type ItemsChange,
} from './change-items.ts';
export type { CheckerInfo, CheckerOption, FieldSchema } from './checker-info.ts';
export {
  type ApiClient,
  type BodyOf,
  type ClientOptions,
  createApiClient,
  type ResponseOf,
} from './create-api-client.ts';
export { CHECKERS } from './generated/checkers.ts';
export type { paths as Paths } from './generated/openapi.ts';
export { REQUEST_VALUES } from './generated/request-values.ts';
export { RUN_CONFIG } from './generated/run-config.ts';
export {
  type IterateOptions,
  iterateItems,
  iteratePages,
  iterateResults,
  type Page,
  type PageQuery,
  type RunResult,
} from './iterate.ts';
export {
  type FollowOptions,
  followJob,
  followRun,
  type HubImportRequest,
  type ImportOptions,
  importHub,
  type PlannedRun,
  planRun,
  type Run,
  type RunRequest,
  type StartOptions,
  startRun,
  uploadDataset,
  type WaitOptions,
  waitForJob,
} from './runs-and-jobs.ts';
export {
  type CheckedUpload,
  checkUpload,
  type DatasetSummary,
  type Job,
  type UploadFile,
  type UploadOptions,
  type UploadOutcome,
  type UploadSource,
  uploadFile,
} from './upload-file.ts';
