// Longer than 350 lines: one table of every event, so that its types and its documentation cannot differ.
import type {
  ChangeMode,
  ChangeOutcome,
  HubOutcome,
  ImportOutcomeLabel,
  ImportSource,
  RunEndStatus,
} from './metric-labels.ts';

/** Work that the queue runs. */
export type JobKind = 'run' | 'import' | 'upload' | (string & {});

declare const value: unique symbol;
/** What a field says, as text for the documentation, with the type of its values for the compiler. */
type Field<Value> = string & { readonly [value]?: { readonly type: Value } };
type Optional<Value> = string & { readonly [value]?: { readonly type: Value; readonly isOptional: true } };

type Text = Field<string>;
type OptionalText = Optional<string>;
type Count = Field<number>;
type OptionalCount = Optional<number>;
type Flag = Field<boolean>;
type StatusCode = Field<number | null>;
/** Takes the caught value itself. The log has its name, code, message and causes, and its stack at level `error`. */
type Thrown = Field<unknown>;
type Source = Field<ImportSource>;
type Mode = Field<ChangeMode>;
type Kind = Field<JobKind>;

/**
 * The catalogue: the level of each event, when it is written, and what its own fields say (ids of the context are not
 * repeated). Nothing else can be logged. Names of fields have units. No field holds tokens, keys, prompts, answers, file
 * contents or request bodies.
 */
export const EVENTS = {
  'config.loaded': {
    level: 'info',
    when: 'the configuration is read and valid',
    fields: {
      settings: 'the settings that are not the defaults; of a secret only that it is set' as Field<
        Readonly<Record<string, unknown>>
      >,
    },
  },
  'server.start': {
    level: 'info',
    when: 'the process listens',
    fields: {
      host: 'address it listens on' as Text,
      port: 'port it listens on' as Count,
      version: 'version of the product' as Text,
    },
  },
  'server.root': {
    level: 'warn',
    when: 'the process was started as root',
    fields: {
      uid: 'the account it changes to: the owner of its database, or 0' as Count,
      reason: 'why it stays root' as OptionalText,
    },
  },
  'server.drain': {
    level: 'info',
    when: 'a stop was requested; the process accepts nothing new',
    fields: {
      reason: 'the signal, or why' as Text,
      timeout_ms: 'how long running work may continue, in milliseconds' as Count,
    },
  },
  'server.stop': {
    level: 'info',
    when: 'everything is closed; the last line of a process',
    fields: {
      reason: 'the signal, or why' as Text,
      exit_code: 'exit code of the process' as OptionalCount,
      duration_ms: 'duration in milliseconds' as OptionalCount,
    },
  },
  'server.fault': {
    level: 'error',
    when: 'an error reached the top of the process',
    fields: {
      error: 'name, code, message, stack and cause' as Thrown,
      place: 'where it was caught, such as `uncaughtException`' as Text,
    },
  },
  'healthz.check': { level: 'info', when: 'a client requested `/healthz`', fields: {} },
  'http.request': {
    level: 'info',
    when: 'a request ended, or its client disconnected (status code 499)',
    fields: {
      method: 'request method' as Text,
      route: 'route template, or `__unmatched__`' as Text,
      status_code: 'status code of the response' as Count,
      duration_ms: 'duration in milliseconds' as Count,
      bytes_in: 'bytes of the request body that were read' as Count,
      bytes_out: 'bytes of the response body that were written' as Count,
      code: 'the stable error code of an error response' as OptionalText,
    },
  },
  'http.probe': {
    level: 'debug',
    when: 'the same for `/healthz`, `/readyz` and `/metrics`',
    fields: {
      method: 'request method' as Text,
      route: 'route template' as Text,
      status_code: 'status code of the response' as Count,
      duration_ms: 'duration in milliseconds' as Count,
      bytes_in: 'bytes of the request body that were read' as Count,
      bytes_out: 'bytes of the response body that were written' as Count,
      code: 'the stable error code of an error response' as OptionalText,
    },
  },
  'error.internal': {
    level: 'error',
    when: 'a request ended with 500, or a task failed with an internal error',
    fields: {
      error: 'name, code, message, stack and cause' as Thrown,
      method: 'request method' as OptionalText,
      route: 'route template' as OptionalText,
    },
  },
  'error.unavailable': {
    level: 'warn',
    when: 'a request ended with 503 because something that the service needs is unavailable or full',
    fields: {
      error: 'name, code, message and cause' as Thrown,
      method: 'request method' as OptionalText,
      route: 'route template' as OptionalText,
    },
  },
  'database.start': {
    level: 'info',
    when: 'the process is connected to the database',
    fields: {
      embedded: 'whether it is the embedded database' as Flag,
      duration_ms: 'duration in milliseconds' as Count,
    },
  },
  'database.unready': {
    level: 'warn',
    when: 'the database cannot be used any more, or for another reason than before',
    fields: {
      reason: '`not_migrated`, `unreachable`, `refused`, `tls` or `full`, as in `/readyz`' as Text,
      message: 'host, port and name of the database, the reason of the system, and what to do' as Text,
    },
  },
  'database.ready': { level: 'info', when: 'the database can be used again', fields: {} },
  'database.migrate': {
    level: 'info',
    when: 'the schema is up to date',
    fields: {
      applied: 'names of the migrations that were applied' as Field<readonly string[]>,
      distributed: 'names of the tables that were spread over the nodes of a cluster' as Field<
        readonly string[]
      >,
      duration_ms: 'duration in milliseconds' as Count,
    },
  },
  'database.stop': {
    level: 'info',
    when: 'the embedded database stopped',
    fields: { duration_ms: 'duration in milliseconds' as Count },
  },
  'keys.read': {
    level: 'info',
    when: '`SVC_API_KEYS_FILE` has changed, and its keys are in force',
    fields: { keys: 'number of keys in force' as Count },
  },
  'keys.fail': {
    level: 'warn',
    when: '`SVC_API_KEYS_FILE` has changed and cannot be read: the keys that it had stay in force',
    fields: { error: 'name, message' as Thrown },
  },
  'spool.clean': {
    level: 'info',
    when: 'temporary files of a process that died were removed',
    fields: { files: 'number of files' as Count, bytes: 'their bytes' as Count },
  },
  'dataset.import.start': {
    level: 'info',
    when: 'an import started',
    fields: {
      source: '`hub`, `pkg_zip` or `file`' as Source,
      path: 'path of the dataset on the hub' as OptionalText,
      subset: 'subset on the hub' as OptionalText,
      split: 'split expression as it was sent' as OptionalText,
      revision: 'revision as it was sent' as OptionalText,
      bytes: 'bytes of the archive or the files' as OptionalCount,
    },
  },
  'dataset.import.finish': {
    level: 'info',
    when: 'an import was stored',
    fields: {
      source: '`hub`, `pkg_zip` or `file`' as Source,
      dataset_id: 'id of the new dataset' as Text,
      version_hash: 'its version hash' as Text,
      section_count: 'number of its sections' as Count,
      item_count: 'number of its items' as Count,
      asset_count: 'number of its assets' as Count,
      bytes: 'bytes that were read: of the package’s lines, or of the hub’s data files' as Count,
      duration_ms: 'duration in milliseconds' as Count,
    },
  },
  'dataset.import.fail': {
    level: 'warn',
    when: 'an import ended without a dataset',
    fields: {
      source: '`hub`, `pkg_zip` or `file`' as Source,
      outcome: '`failed` or `cancelled`' as Field<Exclude<ImportOutcomeLabel, 'succeeded'>>,
      code: 'the stable error code' as Text,
      place: 'file, line and column of the error' as OptionalText,
      rows_done: 'rows that had been read' as OptionalCount,
      duration_ms: 'duration in milliseconds' as Count,
    },
  },
  'dataset.change.start': {
    level: 'info',
    when: 'a change of a dataset started',
    fields: {
      dataset_id: 'id of the dataset' as Text,
      mode: '`append`, `upsert`, `replace`, `edit` or `restore`' as Mode,
    },
  },
  'dataset.change.finish': {
    level: 'info',
    when: 'a change of a dataset was stored, or its content is what it was',
    fields: {
      dataset_id: 'id of the dataset' as Text,
      mode: '`append`, `upsert`, `replace`, `edit` or `restore`' as Mode,
      outcome: '`succeeded` or `unchanged`' as Field<Extract<ChangeOutcome, 'succeeded' | 'unchanged'>>,
      version: 'number of its newest version' as Count,
      version_hash: 'its version hash' as Text,
      added: 'items that were added' as Count,
      changed: 'items that were changed' as Count,
      removed: 'items that were removed' as Count,
      duration_ms: 'duration in milliseconds' as Count,
    },
  },
  'dataset.change.fail': {
    level: 'warn',
    when: 'a change of a dataset ended, and nothing of it was stored',
    fields: {
      dataset_id: 'id of the dataset' as Text,
      mode: '`append`, `upsert`, `replace`, `edit` or `restore`' as Mode,
      outcome: '`failed` or `cancelled`' as Field<Extract<ChangeOutcome, 'failed' | 'cancelled'>>,
      code: 'the stable error code' as Text,
      place: 'file, line and column of the error' as OptionalText,
      duration_ms: 'duration in milliseconds' as Count,
    },
  },
  'dataset.version.delete': {
    level: 'info',
    when: 'an old version of a dataset was deleted',
    fields: { dataset_id: 'id of the dataset' as Text, version: 'number of the version' as Count },
  },
  'dataset.export.finish': {
    level: 'info',
    when: 'an export ended, complete or not',
    fields: {
      dataset_id: 'id of the dataset' as Text,
      exported_run_id: 'id of the run in the archive' as OptionalText,
      bytes: 'bytes that were written' as Count,
      duration_ms: 'duration in milliseconds' as Count,
      complete: 'false if the client disconnected or the service stopped' as Flag,
    },
  },
  'dataset.export.fail': {
    level: 'error',
    when: 'an export failed with an internal error, or lost the database',
    fields: {
      dataset_id: 'id of the dataset' as Text,
      error: 'name, code, message, stack and cause' as Thrown,
      bytes: 'bytes that were written' as Count,
      duration_ms: 'duration in milliseconds' as Count,
    },
  },
  'dataset.update': {
    level: 'info',
    when: 'name, handle, description or notes of a dataset were changed',
    fields: {
      dataset_id: 'id of the dataset' as Text,
      changed: 'names of the changed fields' as Field<readonly string[]>,
    },
  },
  'dataset.delete': {
    level: 'info',
    when: 'a dataset was deleted',
    fields: { dataset_id: 'id of the dataset' as Text },
  },
  'hub.layout.finish': {
    level: 'info',
    when: 'all files of a version were made, for clients of the hub',
    fields: {
      dataset_id: 'id of the dataset' as Text,
      version: 'number of the version' as Count,
      files: 'files that were made' as Count,
      duration_ms: 'duration in milliseconds' as Count,
    },
  },
  'hub.layout.fail': {
    level: 'error',
    when: 'the files of a version could not be made',
    fields: {
      dataset_id: 'id of the dataset' as Text,
      version: 'number of the version' as Count,
      files: 'files that were made until then' as Count,
      duration_ms: 'duration in milliseconds' as Count,
      error: 'name, code, message, stack and cause' as Thrown,
    },
  },
  'hub.request': {
    level: 'debug',
    when: 'a request to the hub ended, with or without a response',
    fields: {
      method: 'request method' as Text,
      host: 'host of the request' as Text,
      kind: 'what was requested, such as `info`, `tree` or `file`' as Text,
      status_code: 'status code, null without a response' as StatusCode,
      outcome: 'as the label of `svc_hub_requests_total`' as Field<HubOutcome>,
      bytes: 'bytes of the body that were read' as Count,
      duration_ms: 'duration in milliseconds' as Count,
      hub_request_id: 'the id that the hub gave the request, for its operators' as Field<string | null>,
    },
  },
  'hub.retry': {
    level: 'warn',
    when: 'a request to the hub will be sent again',
    fields: {
      host: 'host of the request' as Text,
      kind: 'what was requested, such as `info`, `tree` or `file`' as Text,
      status_code: 'status code, null without a response' as StatusCode,
      code: 'error code of the failed attempt' as Text,
      reason: 'what set the delay: `rate_limit`, `retry_after` or `backoff`' as Text,
      attempt: 'number of the failed attempt, from 1' as Count,
      delay_ms: 'time until the next attempt, in milliseconds' as Count,
    },
  },
  'hub.cache.fail': {
    level: 'warn',
    when: 'at its start, the service cannot write to the folder of `SVC_HUB_CACHE_DIR`, so nothing is cached',
    fields: {
      folder: 'path of the folder' as Text,
      code: 'error code of the operating system' as Text,
      uid: 'user id of the process, null on Windows' as Field<number | null>,
    },
  },
  'provider.request': {
    level: 'debug',
    when: 'a request to a model provider ended, with or without a response',
    fields: {
      host: 'host of the request' as Text,
      model: 'name of the model' as Text,
      status_code: 'status code, null without a response' as StatusCode,
      attempt: 'number of the attempt, from 1' as Count,
      duration_ms: 'duration in milliseconds' as Count,
    },
  },
  'provider.retry': {
    level: 'warn',
    when: 'a request to a model provider will be sent again',
    fields: {
      host: 'host of the request' as Text,
      model: 'name of the model' as Text,
      status_code: 'status code, null without a response' as StatusCode,
      reason: 'why, in a word' as Text,
      attempt: 'number of the failed attempt, from 1' as Count,
      delay_ms: 'time until the next attempt, in milliseconds' as Count,
    },
  },
  'job.enqueue': {
    level: 'info',
    when: 'a task was put into the queue',
    fields: { kind: '`run`, `import` or `upload`' as Kind },
  },
  'job.start': {
    level: 'info',
    when: 'a worker took a task',
    fields: {
      kind: '`run`, `import` or `upload`' as Kind,
      attempt: 'number of the attempt, from 1' as Count,
      waited_ms: 'time in the queue, in milliseconds' as OptionalCount,
    },
  },
  'job.finish': {
    level: 'info',
    when: 'a task finished',
    fields: {
      kind: '`run`, `import` or `upload`' as Kind,
      attempt: 'number of the attempt, from 1' as Count,
      duration_ms: 'duration in milliseconds' as Count,
    },
  },
  'job.retry': {
    level: 'warn',
    when: 'a task failed and will be retried',
    fields: {
      kind: '`run`, `import` or `upload`' as Kind,
      attempt: 'number of the failed attempt, from 1' as Count,
      code: 'the stable error code' as Text,
    },
  },
  'job.fail': {
    level: 'warn',
    when: 'a task failed and will not be retried',
    fields: {
      kind: '`run`, `import` or `upload`' as Kind,
      attempt: 'number of the attempt, from 1' as Count,
      code: 'the stable error code' as Text,
      duration_ms: 'duration in milliseconds' as Count,
    },
  },
  'job.cancel': {
    level: 'info',
    when: 'the cancellation of a task was requested, or took effect',
    fields: {
      kind: '`run`, `import` or `upload`' as Kind,
      stage: '`requested` or `cancelled`' as Field<'requested' | 'cancelled'>,
      duration_ms: 'duration in milliseconds' as OptionalCount,
    },
  },
  'job.recover': {
    level: 'warn',
    when: 'a worker took over a task from a worker that missed its heartbeats',
    fields: {
      kind: '`run`, `import` or `upload`' as Kind,
      attempt: 'number of the attempt, from 1' as Count,
    },
  },
  'job.hand_back': {
    level: 'info',
    when: 'a worker released an unfinished task; another worker continues it, or this one later',
    fields: {
      kind: '`run`, `import` or `upload`' as Kind,
      attempt: 'number of the attempt, from 1; it does not count' as Count,
      reason: '`stopping` or `unavailable` (the database was unavailable)' as Text,
    },
  },
  'queue.error': {
    level: 'error',
    when: 'the queue itself failed',
    fields: { error: 'name, code, message, stack and cause' as Thrown },
  },
  'housekeeping.fail': {
    level: 'warn',
    when: 'a periodic task of a worker failed, for the first time after it succeeded; tried again every 10 seconds',
    fields: {
      task: '`keys`, `audit`, `items`, `results` and `trials` delete what has expired, was deleted or was left behind, `assets` what nothing refers to; `hashes` prepares look-ups' as Text,
      error: 'name, code, message and cause' as Thrown,
    },
  },
  'run.create': {
    level: 'info',
    when: 'a run was accepted',
    fields: {
      dataset_id: 'id of the dataset' as Text,
      item_count: 'number of its items' as OptionalCount,
      provider: 'kind of the provider' as Text,
    },
  },
  'run.cancel': {
    level: 'info',
    when: 'the cancellation of a run was requested',
    fields: { already_requested: 'whether it had been requested before' as Flag },
  },
  'run.try': {
    level: 'info',
    when: 'some items were asked for a client, and nothing was stored',
    fields: {
      dataset_id: 'id of the dataset' as Text,
      item_count: 'number of the items' as Count,
      provider: 'kind of the provider' as Text,
      duration_ms: 'duration in milliseconds' as Count,
    },
  },
  'run.retry': {
    level: 'info',
    when: 'a run is retried',
    fields: { only: 'which results: `failed`, `unscored`, `truncated` or `missing`' as Text },
  },
  'run.add_scorers': {
    level: 'info',
    when: 'a run that has ended is given further scorers',
    fields: { scorer_count: 'how many' as Count },
  },
  'run.results': {
    level: 'info',
    when: 'a client sent results of a run',
    fields: {
      accepted: 'lines that were stored' as Count,
      replaced: 'stored lines that replaced another one' as Count,
      rejected: 'lines that were not stored' as Count,
    },
  },
  'run.scores': {
    level: 'info',
    when: 'a client sent scores of the results of a run',
    fields: {
      accepted: 'lines that were stored' as Count,
      replaced: 'stored lines that replaced another score' as Count,
      rejected: 'lines that were not stored' as Count,
    },
  },
  'run.finish': {
    level: 'info',
    when: 'a client ended a run whose results clients send',
    fields: {
      item_count: 'number of results that the run has' as Count,
      missing: 'number of results that it lacks' as Count,
    },
  },
  'worker.run.start': {
    level: 'info',
    when: 'a worker took a run',
    fields: {
      dataset_id: 'id of the dataset' as OptionalText,
      provider: 'kind of the provider' as OptionalText,
      item_count: 'number of results that the run will have' as OptionalCount,
      items_done: 'number of results from earlier attempts' as OptionalCount,
      attempt: 'number of the attempt, from 1' as OptionalCount,
    },
  },
  'worker.run.finish': {
    level: 'info',
    when: 'a run ended',
    fields: {
      status: '`completed`, `failed`, `cancelled` or `stopped`' as Field<RunEndStatus>,
      item_count: 'number of results that the run has' as OptionalCount,
      ok: 'number of results with a score' as OptionalCount,
      failed: 'number of results with an error' as OptionalCount,
      unscored: 'number of results without a score' as OptionalCount,
      reused: 'number of results of this attempt with the output of an earlier run' as OptionalCount,
      code: 'the stable error code of a failed or stopped run' as OptionalText,
      duration_ms: 'duration in milliseconds' as Count,
    },
  },
  'worker.cancel_poll.fail': {
    level: 'warn',
    when: 'the query for cancelled runs failed; the worker repeats it',
    fields: { error: 'name, code, message and cause' as Thrown },
  },
  'settings.update': {
    level: 'info',
    when: 'a setting was changed',
    fields: {
      changed: 'the changed settings and their new values' as Field<
        Readonly<Record<string, boolean | number | string>>
      >,
    },
  },
  'onboarding_telemetry.received': {
    level: 'info',
    when: 'a browser user who consents sent a step of the tour',
    fields: {
      lifecycle: '`started`, `step_viewed`, `completed` or `dismissed`' as Text,
      route: 'path of the page, without a query' as Text,
      time_zone: 'IANA name' as Text,
      tutorial_version: 'version of the tutorial' as Field<string | number>,
      anonymous_session_id: 'uuid made by the page' as Text,
    },
  },
} as const;

/** The name of an event in the catalogue. */
export type EventName = keyof typeof EVENTS;

type TypeOf<F> = F extends Field<infer Value> ? Value : never;
type OptionalKey<Fields> = {
  [Name in keyof Fields]: Fields[Name] extends Optional<infer _> ? Name : never;
}[keyof Fields];
type Values<Fields> = {
  readonly [Name in Exclude<keyof Fields, OptionalKey<Fields>>]: TypeOf<Fields[Name]>;
} & { readonly [Name in OptionalKey<Fields>]?: TypeOf<Fields[Name]> | undefined };

/** The values of each event's own fields, by the name of the event. */
export type EventFields = { readonly [Name in EventName]: Values<(typeof EVENTS)[Name]['fields']> };
