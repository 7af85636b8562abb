// One table of every event, so that its types and its documentation cannot differ.

import type { LogLevel } from '@svc/observability';

/** The values that labels can have. Metrics start with a series for each, at 0. */
export const LABELS = {
  source: ['hub', 'pkg_zip', 'file'],
  importOutcome: ['succeeded', 'failed', 'cancelled'],
  changeMode: ['append', 'upsert', 'replace', 'edit', 'restore'],
  /** `unchanged` if the content is what it was. */
  changeOutcome: ['succeeded', 'unchanged', 'failed', 'cancelled'],
  hubOutcome: [
    ...['ok', 'redirect', 'not_found', 'denied', 'rate_limited', 'client_error', 'server_error'],
    ...['bad_response', 'timeout', 'connection_error', 'aborted'],
  ],
  providerOutcome: [
    ...['ok', 'rejected', 'rate_limited', 'unavailable', 'timeout', 'bad_response'],
    ...['unauthorized', 'not_found', 'forbidden'],
  ],
  poolState: ['used', 'idle'],
  /** Folders that a process writes to: `SVC_DATA_DIR` and `SVC_HUB_CACHE_DIR`. */
  volume: ['data', 'hub_cache'],
  queueState: ['queued', 'retry', 'running', 'failed'],
  /** What a process needs before it can work, as `/readyz` names it. */
  check: ['database', 'queue', 'accepting'],
  runStatus: ['completed', 'failed', 'cancelled', 'stopped'],
  itemStatus: ['ok', 'failed', 'unscored'],
} as const;

export type Label<Name extends keyof typeof LABELS> = (typeof LABELS)[Name][number];

type JobKind = 'run' | 'import' | 'upload' | (string & {});

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
type Source = Field<Label<'source'>>;
type Mode = Field<Label<'changeMode'>>;
type Kind = Field<JobKind>;

// Fields that several events have.
const DATASET = { dataset_id: 'id of the dataset' as Text };
const CHANGE = { ...DATASET, mode: '`append`, `upsert`, `replace`, `edit` or `restore`' as Mode };
const VERSION = { ...DATASET, version: 'number of the version' as Count };
const KIND = { kind: '`run`, `import` or `upload`' as Kind };
const ATTEMPT = { attempt: 'number of the attempt, from 1; of a retry, the one that failed' as Count };
const TASK = { ...KIND, ...ATTEMPT };
const ERROR = { error: 'name, code, message and cause; at level `error` also the stack' as Thrown };
const TOOK = { duration_ms: 'duration in milliseconds' as Count };
const REQUEST = {
  method: 'request method' as Text,
  route: 'route template, or `__unmatched__`' as Text,
  status_code: 'status code of the response, null without one' as Count,
  duration_ms: 'duration in milliseconds' as Count,
  bytes_in: 'bytes of the request body' as Count,
  bytes_out: 'bytes of the response body' as Count,
  code: 'the stable error code' as OptionalText,
};

/** An event of a level: when it is written, and what its fields say. */
const eventOf =
  (level: LogLevel) =>
  <Fields extends object = Record<never, never>>(when: string, fields: Fields = {} as Fields) => ({
    level,
    when,
    fields,
  });
const [debug, info, warn, error] = [eventOf('debug'), eventOf('info'), eventOf('warn'), eventOf('error')];

/**
 * The catalogue: the level of each event, when it is written, and what its own fields say (ids of the context are not
 * repeated). Nothing else can be logged. Names of fields have units. No field holds tokens, keys, prompts, answers, file
 * contents or request bodies.
 */
export const EVENTS = {
  'config.loaded': info('the configuration is read and valid', {
    settings: 'settings other than the defaults; of a secret only that it is set' as Field<
      Readonly<Record<string, unknown>>
    >,
  }),
  'server.start': info('the process listens', {
    host: 'its address' as Text,
    port: 'its port' as Count,
    version: 'version of the product' as Text,
  }),
  'server.root': warn('the process was started as root', {
    uid: 'the account it changes to: the owner of its database, or 0' as Count,
    reason: 'why it stays root' as OptionalText,
  }),
  'server.drain': info('a stop was requested; the process accepts nothing new', {
    reason: 'the signal, or why' as Text,
    timeout_ms: 'how long running work may continue, in milliseconds' as Count,
  }),
  'server.stop': info('everything is closed; the last line of a process', {
    reason: 'the signal, or why' as Text,
    exit_code: 'its exit code' as OptionalCount,
    duration_ms: 'duration in milliseconds' as OptionalCount,
  }),
  'server.fault': error('an error reached the top of the process', {
    ...ERROR,
    place: 'where it was caught, such as `uncaughtException`' as Text,
  }),
  'healthz.check': info('a client requested `/healthz`'),
  'http.request': info('a request ended, or its client disconnected (status code 499)', REQUEST),
  'http.probe': debug('the same for `/healthz`, `/readyz` and `/metrics`', REQUEST),
  'error.internal': error('a request ended with 500, or a task failed with an internal error', {
    ...ERROR,
    method: 'request method' as OptionalText,
    route: 'route template, or `__unmatched__`' as OptionalText,
  }),
  'error.unavailable': warn('a request ended with 503 because something is unavailable or full', {
    ...ERROR,
    method: 'request method' as OptionalText,
    route: 'route template, or `__unmatched__`' as OptionalText,
  }),
  'database.start': info('the process is connected to the database', {
    embedded: 'whether it is the embedded database' as Flag,
    ...TOOK,
  }),
  'database.unready': warn('the database cannot be used, or for another reason than before', {
    reason: '`not_migrated`, `unreachable`, `refused`, `tls` or `full`, as in `/readyz`' as Text,
    message: 'host, port and name of the database, the reason, and what to do' as Text,
  }),
  'database.ready': info('the database can be used again'),
  'database.migrate': info('the schema is up to date', {
    applied: 'names of the applied migrations' as Field<readonly string[]>,
    distributed: 'names of the tables that were spread over a cluster' as Field<readonly string[]>,
    ...TOOK,
  }),
  'database.stop': info('the embedded database stopped', TOOK),
  'keys.read': info('`SVC_API_KEYS_FILE` has changed, and its keys are in force', {
    keys: 'number of keys in force' as Count,
  }),
  'keys.fail': warn('`SVC_API_KEYS_FILE` has changed and cannot be read: its keys stay in force', ERROR),
  'spool.clean': info('temporary files of a process that died were removed', {
    files: 'number of files' as Count,
    bytes: 'their bytes' as Count,
  }),
  'dataset.import.start': info('an import started', {
    source: '`hub`, `pkg_zip` or `file`' as Source,
    path: 'dataset on the hub' as OptionalText,
    subset: 'subset on the hub' as OptionalText,
    split: 'as it was sent' as OptionalText,
    revision: 'as it was sent' as OptionalText,
    bytes: 'bytes of the archive or the files' as OptionalCount,
  }),
  'dataset.import.finish': info('an import was stored', {
    source: '`hub`, `pkg_zip` or `file`' as Source,
    ...DATASET,
    version_hash: 'its version hash' as Text,
    section_count: 'number of its sections' as Count,
    item_count: 'number of its items' as Count,
    asset_count: 'number of its assets' as Count,
    bytes: 'bytes that were read: of the package’s lines, or of the hub’s data files' as Count,
    ...TOOK,
  }),
  'dataset.import.fail': warn('an import ended without a dataset', {
    source: '`hub`, `pkg_zip` or `file`' as Source,
    outcome: '`failed` or `cancelled`' as Field<Exclude<Label<'importOutcome'>, 'succeeded'>>,
    code: 'the stable error code' as Text,
    place: 'file, line and column of the error' as OptionalText,
    rows_done: 'rows that were read' as OptionalCount,
    ...TOOK,
  }),
  'dataset.change.start': info('a change of a dataset started', CHANGE),
  'dataset.change.finish': info('a change of a dataset was stored, or changed nothing', {
    ...CHANGE,
    outcome: '`succeeded` or `unchanged`' as Field<
      Extract<Label<'changeOutcome'>, 'succeeded' | 'unchanged'>
    >,
    version: 'number of the version' as Count,
    version_hash: 'its version hash' as Text,
    added: 'added items' as Count,
    changed: 'changed items' as Count,
    removed: 'removed items' as Count,
    ...TOOK,
  }),
  'dataset.change.fail': warn('a change of a dataset ended, and nothing of it was stored', {
    ...CHANGE,
    outcome: '`failed` or `cancelled`' as Field<Extract<Label<'changeOutcome'>, 'failed' | 'cancelled'>>,
    code: 'the stable error code' as Text,
    place: 'file, line and column of the error' as OptionalText,
    ...TOOK,
  }),
  'dataset.version.delete': info('an old version of a dataset was deleted', VERSION),
  'dataset.export.finish': info('an export ended, complete or not', {
    ...DATASET,
    exported_run_id: 'id of the run in the archive' as OptionalText,
    bytes: 'written bytes' as Count,
    ...TOOK,
    complete: 'false if the client disconnected or the service stopped' as Flag,
  }),
  'dataset.export.fail': error('an export failed with an internal error, or lost the database', {
    ...DATASET,
    ...ERROR,
    bytes: 'written bytes' as Count,
    ...TOOK,
  }),
  'dataset.update': info('name, handle, description or notes of a dataset were changed', {
    ...DATASET,
    changed: 'names of the changed fields' as Field<readonly string[]>,
  }),
  'dataset.delete': info('a dataset was deleted', DATASET),
  'hub.layout.finish': info('all files of a version were made, for clients of the hub', {
    ...VERSION,
    files: 'files that were made' as Count,
    ...TOOK,
  }),
  'hub.layout.fail': error('the files of a version could not be made', {
    ...VERSION,
    files: 'files that were made' as Count,
    ...TOOK,
    ...ERROR,
  }),
  'hub.request': debug('a request to the hub ended, with or without a response', {
    method: 'request method' as Text,
    host: 'host of the request' as Text,
    kind: 'what was requested, such as `info`, `tree` or `file`' as Text,
    status_code: 'status code of the response, null without one' as StatusCode,
    outcome: 'as the label of `svc_hub_requests_total`' as Field<Label<'hubOutcome'>>,
    bytes: 'bytes of the body' as Count,
    ...TOOK,
    hub_request_id: 'id of the request at the hub' as Field<string | null>,
  }),
  'hub.retry': warn('a request to the hub will be sent again', {
    host: 'host of the request' as Text,
    kind: 'what was requested, such as `info`, `tree` or `file`' as Text,
    status_code: 'status code of the response, null without one' as StatusCode,
    code: 'the stable error code' as Text,
    reason: 'what set the delay: `rate_limit`, `retry_after` or `backoff`' as Text,
    ...ATTEMPT,
    delay_ms: 'time until the next attempt, in milliseconds' as Count,
  }),
  'hub.cache.fail': warn('at its start, the service cannot write to `SVC_HUB_CACHE_DIR`: nothing is cached', {
    folder: 'path of the folder' as Text,
    code: 'error code of the operating system' as Text,
    uid: 'user id of the process, null on Windows' as Field<number | null>,
  }),
  'provider.request': debug('a request to a model provider ended, with or without a response', {
    host: 'host of the request' as Text,
    model: 'name of the model' as Text,
    status_code: 'status code of the response, null without one' as StatusCode,
    ...ATTEMPT,
    ...TOOK,
  }),
  'provider.retry': warn('a request to a model provider will be sent again', {
    host: 'host of the request' as Text,
    model: 'name of the model' as Text,
    status_code: 'status code of the response, null without one' as StatusCode,
    reason: 'why, in a word' as Text,
    ...ATTEMPT,
    delay_ms: 'time until the next attempt, in milliseconds' as Count,
  }),
  'job.enqueue': info('a task was put into the queue', KIND),
  'job.start': info('a worker took a task', {
    ...TASK,
    waited_ms: 'time in the queue, in milliseconds' as OptionalCount,
  }),
  'job.finish': info('a task finished', { ...TASK, ...TOOK }),
  'job.retry': warn('a task failed and will be retried', {
    ...TASK,
    code: 'the stable error code' as Text,
  }),
  'job.fail': warn('a task failed and will not be retried', {
    ...TASK,
    code: 'the stable error code' as Text,
    ...TOOK,
  }),
  'job.cancel': info('the cancellation of a task was requested, or took effect', {
    ...KIND,
    stage: '`requested` or `cancelled`' as Field<'requested' | 'cancelled'>,
    duration_ms: 'duration in milliseconds' as OptionalCount,
  }),
  'job.recover': warn('a worker took over a task from a worker that missed its heartbeats', TASK),
  'job.hand_back': info('a worker released an unfinished task, to be continued; the attempt does not count', {
    ...TASK,
    reason: '`stopping` or `unavailable` (the database was unavailable)' as Text,
  }),
  'queue.error': error('the queue itself failed', ERROR),
  'housekeeping.fail': warn(
    'a periodic task of a worker failed, the first time after a success; tried again every 10 seconds',
    {
      task: '`keys`, `audit`, `items`, `results` and `trials` delete what has expired, was deleted or was left behind, `assets` what nothing refers to; `hashes` prepares look-ups' as Text,
      ...ERROR,
    },
  ),
  'run.create': info('a run was accepted', {
    ...DATASET,
    item_count: 'number of its items' as OptionalCount,
    provider: 'kind of the provider' as Text,
  }),
  'run.cancel': info('the cancellation of a run was requested', {
    already_requested: 'whether it had been requested before' as Flag,
  }),
  'run.try': info('some items were asked for a client, and nothing was stored', {
    ...DATASET,
    item_count: 'number of its items' as Count,
    provider: 'kind of the provider' as Text,
    ...TOOK,
  }),
  'run.retry': info('a run is retried', {
    only: 'which results: `failed`, `unscored`, `truncated` or `missing`' as Text,
  }),
  'run.add_scorers': info('a run that has ended is given further scorers', {
    scorer_count: 'how many' as Count,
  }),
  'run.results': info('a client sent results of a run', {
    accepted: 'stored lines' as Count,
    replaced: 'stored lines that replaced another one' as Count,
    rejected: 'refused lines' as Count,
  }),
  'run.scores': info('a client sent scores of the results of a run', {
    accepted: 'stored lines' as Count,
    replaced: 'stored lines that replaced another score' as Count,
    rejected: 'refused lines' as Count,
  }),
  'run.finish': info('a client ended a run whose results clients send', {
    item_count: 'results that the run has' as Count,
    missing: 'results that it lacks' as Count,
  }),
  'worker.run.start': info('a worker took a run', {
    dataset_id: 'id of the dataset' as OptionalText,
    provider: 'kind of the provider' as OptionalText,
    item_count: 'results that the run will have' as OptionalCount,
    items_done: 'results from earlier attempts' as OptionalCount,
    attempt: 'number of the attempt, from 1; of a retry, the one that failed' as OptionalCount,
  }),
  'worker.run.finish': info('a run ended', {
    status: '`completed`, `failed`, `cancelled` or `stopped`' as Field<Label<'runStatus'>>,
    item_count: 'results that the run has' as OptionalCount,
    ok: 'results with a score' as OptionalCount,
    failed: 'results with an error' as OptionalCount,
    unscored: 'results without a score' as OptionalCount,
    reused: 'results of this attempt with the output of an earlier run' as OptionalCount,
    code: 'the stable error code' as OptionalText,
    ...TOOK,
  }),
  'worker.cancel_poll.fail': warn('the query for cancelled runs failed; the worker repeats it', ERROR),
  'settings.update': info('a setting was changed', {
    changed: 'the changed settings and their new values' as Field<
      Readonly<Record<string, boolean | number | string>>
    >,
  }),
  'onboarding_telemetry.received': info('a browser user who consents sent a step of the tour', {
    lifecycle: '`started`, `step_viewed`, `completed` or `dismissed`' as Text,
    route: 'path of the page, without a query' as Text,
    time_zone: 'IANA name' as Text,
    tutorial_version: 'version of the tutorial' as Field<string | number>,
    anonymous_session_id: 'uuid made by the page' as Text,
  }),
} as const;

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
