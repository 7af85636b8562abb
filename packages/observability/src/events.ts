import type { HubOutcome, ImportOutcomeLabel, ImportSource, RunEndStatus } from './metrics.ts';

/** Severity, most severe first. A logger writes its own level and the more severe ones. */
export type LogLevel = 'error' | 'warn' | 'info' | 'debug';

/** Work that is done by the queue. */
export type JobKind = 'run' | 'import' | 'upload' | (string & {});

/**
 * Every event with its own fields (ids of the context are not repeated here). The names of fields carry
 * units. What no field may hold: tokens, keys, prompts, answers, file contents, request bodies. `error`
 * fields take the caught value itself; its name, code and message are logged, and its stack at level error.
 */
export interface EventFields {
  'config.loaded': { settings: Readonly<Record<string, unknown>> };
  'server.start': { host: string; port: number; version: string };
  'server.root': { uid: number; reason?: string };
  'server.drain': { reason: string; timeout_ms: number };
  'server.stop': { reason: string; exit_code?: number; duration_ms?: number };
  'server.fault': { error: unknown; place: string };
  'healthz.check': Record<never, never>;
  'readyz.fail': { checks: Readonly<Record<string, boolean | string>> };
  'http.request': {
    method: string;
    route: string;
    status_code: number;
    duration_ms: number;
    bytes_in: number;
    bytes_out: number;
    code?: string | undefined;
  };
  'error.internal': { error: unknown; method?: string; route?: string };
  'error.unavailable': { error: unknown; method?: string; route?: string };
  'database.start': { embedded: boolean; duration_ms: number };
  'database.migrate': { applied: readonly string[]; duration_ms: number };
  'database.stop': { duration_ms: number };
  'spool.clean': { files: number; bytes: number };
  'dataset.import.start': {
    source: ImportSource;
    path?: string | undefined;
    subset?: string | undefined;
    split?: string | undefined;
    revision?: string | undefined;
    bytes?: number | undefined;
  };
  'dataset.import.finish': {
    source: ImportSource;
    dataset_id: string;
    version_hash: string;
    section_count: number;
    item_count: number;
    asset_count: number;
    bytes: number;
    duration_ms: number;
  };
  'dataset.import.fail': {
    source: ImportSource;
    outcome: Exclude<ImportOutcomeLabel, 'succeeded'>;
    code: string;
    place?: string | undefined;
    rows_done?: number | undefined;
    duration_ms: number;
  };
  'dataset.export.finish': {
    dataset_id: string;
    exported_run_id?: string | undefined;
    bytes: number;
    duration_ms: number;
    complete: boolean;
  };
  'dataset.export.fail': { dataset_id: string; error: unknown; bytes: number; duration_ms: number };
  'dataset.update': { dataset_id: string; changed: readonly string[] };
  'dataset.delete': { dataset_id: string };
  'hub.request': {
    method: string;
    host: string;
    kind: string;
    status_code: number | null;
    outcome: HubOutcome;
    bytes: number;
    duration_ms: number;
    hub_request_id: string | null;
  };
  'hub.retry': {
    host: string;
    kind: string;
    status_code: number | null;
    code: string;
    reason: string;
    attempt: number;
    delay_ms: number;
  };
  'provider.request': {
    host: string;
    model: string;
    status_code: number | null;
    attempt: number;
    duration_ms: number;
  };
  'provider.retry': {
    host: string;
    model: string;
    status_code: number | null;
    reason: string;
    attempt: number;
    delay_ms: number;
  };
  'job.enqueue': { kind: JobKind };
  'job.start': { kind: JobKind; attempt: number; waited_ms?: number | undefined };
  'job.finish': { kind: JobKind; attempt: number; duration_ms: number };
  'job.retry': { kind: JobKind; attempt: number; code: string };
  'job.fail': { kind: JobKind; attempt: number; code: string; duration_ms: number };
  'job.cancel': { kind: JobKind; stage: 'requested' | 'cancelled'; duration_ms?: number | undefined };
  'job.recover': { kind: JobKind; attempt: number };
  'job.hand_back': { kind: JobKind; attempt: number; reason: string };
  'queue.error': { error: unknown };
  'run.create': { dataset_id: string; item_count?: number | undefined; provider: string };
  'run.cancel': { already_requested: boolean };
  'worker.run.start': {
    dataset_id?: string | undefined;
    provider?: string | undefined;
    item_count?: number | undefined;
    items_done?: number | undefined;
    attempt?: number | undefined;
  };
  'worker.run.finish': {
    status: RunEndStatus;
    item_count?: number | undefined;
    ok?: number | undefined;
    failed?: number | undefined;
    unscored?: number | undefined;
    code?: string | undefined;
    duration_ms: number;
  };
  'worker.cancel_poll.fail': { error: unknown };
  'settings.update': { changed: Readonly<Record<string, boolean | number | string>> };
  'onboarding_telemetry.received': {
    lifecycle: string;
    route: string;
    time_zone: string;
    tutorial_version: string | number;
    anonymous_session_id: string;
  };
}

/** The name of an event in the catalogue. */
export type EventName = keyof EventFields;

/**
 * An event as the documentation shows it: its level, when it is written, and what each of its fields says.
 */
export interface EventDescription<Fields> {
  readonly level: LogLevel;
  readonly when: string;
  readonly fields: { readonly [Name in keyof Fields]-?: string };
}

const attempt = 'which try, from 1';
const duration = 'how long it took, in milliseconds';
const error = 'what was thrown: name, code, message, stack, cause';
const kind = '`run`, `import` or `upload`';
const source = '`hub` or `pkg_zip`';
const code = 'the stable error code';
const hubKind = 'what was asked for, such as `info`, `tree` or `file`';

/** The catalogue. A name that is not here cannot be logged, and neither can a field. */
export const EVENTS: { readonly [Name in EventName]: EventDescription<EventFields[Name]> } = {
  'config.loaded': {
    level: 'info',
    when: 'the configuration was read and is valid',
    fields: { settings: 'the settings in force; of a secret only whether it is set' },
  },
  'server.start': {
    level: 'info',
    when: 'the process listens',
    fields: {
      host: 'address it listens on',
      port: 'port it listens on',
      version: 'version of the product',
    },
  },
  'server.root': {
    level: 'warn',
    when: 'the process was started as root',
    fields: {
      uid: 'the account that it goes on as: that of its database, or 0',
      reason: 'why it stays root',
    },
  },
  'server.drain': {
    level: 'info',
    when: 'a stop was asked for; nothing new is accepted',
    fields: {
      reason: 'the signal, or why',
      timeout_ms: 'how long running work may go on, in milliseconds',
    },
  },
  'server.stop': {
    level: 'info',
    when: 'everything is closed; the last line of a process',
    fields: { reason: 'the signal, or why', exit_code: 'exit code of the process', duration_ms: duration },
  },
  'server.fault': {
    level: 'error',
    when: 'an error reached the top of the process',
    fields: { error, place: 'where it was caught, such as `uncaughtException`' },
  },
  'healthz.check': { level: 'info', when: '`/healthz` was asked', fields: {} },
  'readyz.fail': {
    level: 'warn',
    when: '`/readyz` was answered with 503',
    fields: { checks: 'each check, and whether it passed' },
  },
  'http.request': {
    level: 'info',
    when: 'a request was answered, or its client went away (status code 499)',
    fields: {
      method: 'request method',
      route: 'route template, or `__unmatched__`',
      status_code: 'status code of the answer',
      duration_ms: duration,
      bytes_in: 'bytes of the request body that were read',
      bytes_out: 'bytes of the response body that were written',
      code: 'the stable error code, where the answer was an error',
    },
  },
  'error.internal': {
    level: 'error',
    when: 'a request ended with 500, or a task with an error that is no fault of its input',
    fields: { error, method: 'request method', route: 'route template' },
  },
  'error.unavailable': {
    level: 'warn',
    when: 'a request ended with 503 because something that the service needs is away or full',
    fields: { error, method: 'request method', route: 'route template' },
  },
  'database.start': {
    level: 'info',
    when: 'the database is reached',
    fields: {
      embedded: 'whether it is the embedded one',
      duration_ms: duration,
    },
  },
  'database.migrate': {
    level: 'info',
    when: 'the schema was brought up to date',
    fields: { applied: 'names of the migrations that were applied', duration_ms: duration },
  },
  'database.stop': {
    level: 'info',
    when: 'the embedded database was stopped',
    fields: { duration_ms: duration },
  },
  'spool.clean': {
    level: 'info',
    when: 'temporary files of a process that died were removed',
    fields: { files: 'number of files', bytes: 'their bytes' },
  },
  'dataset.import.start': {
    level: 'info',
    when: 'an import began',
    fields: {
      source,
      path: 'path of the dataset on the hub',
      subset: 'subset on the hub',
      split: 'split expression as it was sent',
      revision: 'revision as it was sent',
      bytes: 'bytes of the archive',
    },
  },
  'dataset.import.finish': {
    level: 'info',
    when: 'an import was stored',
    fields: {
      source,
      dataset_id: 'id of the new dataset',
      version_hash: 'its version hash',
      section_count: 'number of its sections',
      item_count: 'number of its items',
      asset_count: 'number of its assets',
      bytes: 'bytes that were read',
      duration_ms: duration,
    },
  },
  'dataset.import.fail': {
    level: 'warn',
    when: 'an import ended without a dataset',
    fields: {
      source,
      outcome: '`failed` or `cancelled`',
      code,
      place: 'file, line and column at fault',
      rows_done: 'rows that had been read',
      duration_ms: duration,
    },
  },
  'dataset.export.finish': {
    level: 'info',
    when: 'an export ended, also before it was complete',
    fields: {
      dataset_id: 'id of the dataset',
      exported_run_id: 'id of the run in the archive',
      bytes: 'bytes that were written',
      duration_ms: duration,
      complete: 'false when the reader went away, or the service stopped',
    },
  },
  'dataset.export.fail': {
    level: 'error',
    when: 'an export broke off through a fault of the service, or because the database went away',
    fields: {
      dataset_id: 'id of the dataset',
      error,
      bytes: 'bytes that were written',
      duration_ms: duration,
    },
  },
  'dataset.update': {
    level: 'info',
    when: 'name, description or notes of a dataset were changed',
    fields: { dataset_id: 'id of the dataset', changed: 'names of the changed fields' },
  },
  'dataset.delete': {
    level: 'info',
    when: 'a dataset was deleted',
    fields: { dataset_id: 'id of the dataset' },
  },
  'hub.request': {
    level: 'debug',
    when: 'the hub answered a request, or did not',
    fields: {
      method: 'request method',
      host: 'host that was asked',
      kind: hubKind,
      status_code: 'status code, null without an answer',
      outcome: 'as the label of `svc_hub_requests_total`',
      bytes: 'bytes of the body that were read',
      duration_ms: duration,
      hub_request_id: 'the hub’s own id of the request, for its operators',
    },
  },
  'hub.retry': {
    level: 'warn',
    when: 'a request to the hub will be sent again',
    fields: {
      host: 'host that was asked',
      kind: hubKind,
      status_code: 'status code, null without an answer',
      code: 'error code it would have ended with',
      reason: 'what set the wait: `rate_limit`, `retry_after` or `backoff`',
      attempt: 'which try failed, from 1',
      delay_ms: 'how long until the next one, in milliseconds',
    },
  },
  'provider.request': {
    level: 'debug',
    when: 'a model provider answered a request, or did not',
    fields: {
      host: 'host that was asked',
      model: 'name of the model',
      status_code: 'status code, null without an answer',
      attempt,
      duration_ms: duration,
    },
  },
  'provider.retry': {
    level: 'warn',
    when: 'a request to a model provider will be sent again',
    fields: {
      host: 'host that was asked',
      model: 'name of the model',
      status_code: 'status code, null without an answer',
      reason: 'why, in a word',
      attempt: 'which try failed, from 1',
      delay_ms: 'how long until the next one, in milliseconds',
    },
  },
  'job.enqueue': { level: 'info', when: 'a task was put into the queue', fields: { kind } },
  'job.start': {
    level: 'info',
    when: 'a worker took a task',
    fields: { kind, attempt, waited_ms: 'how long it stood in the queue, in milliseconds' },
  },
  'job.finish': { level: 'info', when: 'a task was done', fields: { kind, attempt, duration_ms: duration } },
  'job.retry': {
    level: 'warn',
    when: 'a task failed and will be tried again',
    fields: {
      kind,
      attempt: 'which try failed, from 1',
      code,
    },
  },
  'job.fail': {
    level: 'warn',
    when: 'a task failed for good',
    fields: { kind, attempt, code, duration_ms: duration },
  },
  'job.cancel': {
    level: 'info',
    when: 'the end of a task was asked for, or came',
    fields: { kind, stage: '`requested` or `cancelled`', duration_ms: duration },
  },
  'job.recover': {
    level: 'warn',
    when: 'a task was taken over from a worker that fell silent',
    fields: { kind, attempt },
  },
  'job.hand_back': {
    level: 'info',
    when: 'a worker gave an unfinished task back; it goes on elsewhere, or here later',
    fields: {
      kind,
      attempt: 'which try, from 1; it does not count',
      reason:
        '`stopping`, `unavailable` (the database was away) or `long` (the task is longer than a try may be)',
    },
  },
  'queue.error': { level: 'error', when: 'the queue itself failed', fields: { error } },
  'run.create': {
    level: 'info',
    when: 'a run was accepted',
    fields: {
      dataset_id: 'id of the dataset',
      item_count: 'number of its items',
      provider: 'kind of the provider',
    },
  },
  'run.cancel': {
    level: 'info',
    when: 'the end of a run was asked for',
    fields: { already_requested: 'whether it had been asked for before' },
  },
  'worker.run.start': {
    level: 'info',
    when: 'a worker took a run',
    fields: {
      dataset_id: 'id of the dataset',
      provider: 'kind of the provider',
      item_count: 'results that the run will have',
      items_done: 'results that were there already',
      attempt,
    },
  },
  'worker.run.finish': {
    level: 'info',
    when: 'a worker is done with a run',
    fields: {
      status: '`completed`, `failed` or `cancelled`',
      item_count: 'results that the run has',
      ok: 'results with a score',
      failed: 'results with an error',
      unscored: 'results without a score',
      code: 'the stable error code of a failed run',
      duration_ms: duration,
    },
  },
  'worker.cancel_poll.fail': {
    level: 'warn',
    when: 'the database could not be asked for cancelled runs; it is asked again',
    fields: { error },
  },
  'settings.update': {
    level: 'info',
    when: 'a setting was changed',
    fields: { changed: 'the changed settings and their new values' },
  },
  'onboarding_telemetry.received': {
    level: 'info',
    when: 'the page sent a tutorial event and the setting allows it',
    fields: {
      lifecycle: '`started`, `step_viewed`, `completed` or `dismissed`',
      route: 'path of the page, without a query',
      time_zone: 'IANA name',
      tutorial_version: 'version of the tutorial',
      anonymous_session_id: 'uuid made by the page',
    },
  },
};
