import type { FakeHub } from '../../../../../packages/hub-client/test/fake-hub.ts';
import type { ServiceProcess } from '../run-service.ts';

/** What a limit is tried on. */
export interface Target {
  /** with `LIMITS` */
  readonly service: ServiceProcess;
  /** with `CLIENT_ENV` */
  readonly shared: ServiceProcess;
  readonly hub: FakeHub;
}

/** Something that is sent, and the outcome that it must have. */
interface Attempt {
  /** how much it is of what is limited, as the report says it */
  readonly what: string;
  readonly outcome: string;
  /** Sends it and tells the outcome; `index` counts the tries. */
  readonly send: (target: Target, index: number) => Promise<string>;
}

/** A limit with the most that is within it and the least that is beyond. Times have no such edge: they say so. */
export interface LimitCase {
  /** what is limited, with the variable that sets it */
  readonly limit: string;
  readonly within: Attempt;
  readonly beyond: Attempt;
  /** tries of each of the two, where they are fewer than those of others */
  readonly tries?: number;
}

/** Small, so that a test can go beyond each; far enough from another that it is this one that answers. */
export const LIMITS = {
  SVC_MAX_UPLOAD_BYTES: 300_000,
  SVC_MAX_ARCHIVE_ENTRIES: 20,
  SVC_MAX_UNCOMPRESSED_BYTES: 2_500_000,
  SVC_MAX_EXPANSION_RATIO: 200,
  // an asset of the size that is allowed fits into an item
  SVC_MAX_LINE_BYTES: 50_000,
  SVC_MAX_ASSET_BYTES: 30_000,
  SVC_MAX_JSON_DEPTH: 20,
  SVC_MAX_JSON_BODY_BYTES: 10_000,
  // no more than the fields that a form may have: with one more of them, it is not the number that is wrong
  SVC_MAX_FORM_FIELDS: 2,
  SVC_MAX_FORM_FIELD_BYTES: 1000,
  SVC_HEADERS_TIMEOUT_MS: 2000,
  SVC_IDLE_BODY_TIMEOUT_MS: 1500,
  SVC_JSON_REQUEST_TIMEOUT_MS: 2500,
  SVC_MAX_CONCURRENT_IMPORTS: 2,
  SVC_IMPORT_WAIT_MS: 2000,
  SVC_MAX_PREVIEW_BYTES: 8000,
} as const;

/** A number as the report writes it. */
export const count = (value: number, unit: string): string => `${value.toLocaleString('en')} ${unit}`;
