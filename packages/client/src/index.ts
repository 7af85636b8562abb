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
export { type ApiClient, type ClientOptions, createApiClient } from './create-api-client.ts';
export { type FollowOptions, followJob, followRun, type Job, type Run } from './follow.ts';
export { CHECKERS } from './generated/checkers.ts';
export type { paths as Paths } from './generated/openapi.ts';
export { REQUEST_VALUES } from './generated/request-values.ts';
export { RUN_CONFIG } from './generated/run-config.ts';
export { type IterateOptions, iterateItems, iterateResults, type RunResult } from './iterate.ts';
export { iteratePages, type Page, type PageQuery } from './iterate-pages.ts';
export type { BodyOf, ResponseOf } from './response-of.ts';
export { type PlannedRun, planRun, type RunRequest, type StartOptions, startRun } from './start-run.ts';
export {
  type CheckedUpload,
  checkUpload,
  type DatasetSummary,
  type UploadFile,
  type UploadOptions,
  type UploadOutcome,
  type UploadSource,
  uploadFile,
} from './upload-file.ts';
export {
  type HubImportRequest,
  type ImportOptions,
  importHub,
  uploadDataset,
  type WaitOptions,
  waitForJob,
} from './wait-for-job.ts';
