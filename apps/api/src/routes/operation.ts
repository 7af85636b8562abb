import { statfs } from 'node:fs/promises';
import {
  type EventFields,
  invalidRequest,
  JsonText,
  json,
  jsonBody,
  notVisible,
  ok,
  RequestError,
  type Route,
  type RouteRequest,
  readTime,
  type Schema,
  shape,
} from '@svc/service';
import { AUDIT_COLUMNS, auditTable } from '@svc/service/flows';
import {
  AUDIT_ACTIONS,
  type AuditConditions,
  type AuditEntry,
  HISTORY_MINUTES,
  type Store,
  type WorkerReport,
} from '@svc/service/store';
import type { RouteDeps } from './deps.ts';
import { COUNT, PAGE_QUERY, page, record, TEXT, TEXT_OR_NULL, TIME, UUID } from './docs/schemas.ts';
import { JOB_STATUSES } from './jobs.ts';
import { listed, named, wanted } from './page.ts';
import { tableRoute } from './table.ts';

const counts = (names: readonly string[]): Schema =>
  shape(Object.fromEntries(names.map((name) => [name, COUNT])));
const TASKS = counts(['runs', 'jobs']);

const MINUTE_MS = 60_000;
/** How long figures that need a count of rows are cached. */
const MEASURED_MS = 15_000;

/** The limits of the configuration that people meet, under the names of their variables. */
const LIMITS = [
  'maxUploadBytes',
  'maxUncompressedBytes',
  'maxArchiveEntries',
  'maxRows',
  'maxLineBytes',
  'maxAssetBytes',
  'maxJsonBodyBytes',
  'maxConcurrentUploads',
  'maxConcurrentImports',
  'maxStreamsPerClient',
  'rateLimitPerMinute',
  'runConcurrency',
  'workerConcurrency',
] as const;

const WORKER = record<WorkerReport & { readonly startedAt: Date }>({
  id: UUID,
  version: TEXT,
  started_at: TIME,
  concurrency: { ...TASKS, description: 'the tasks that it may work on at a time' },
  running: { ...TASKS, description: 'tasks that it is working on' },
});

export const STATUS: Schema = shape({
  version: TEXT,
  workers: {
    type: 'array',
    description: 'the workers that have reported in the last 15 seconds',
    items: WORKER.schema,
  },
  queue: { ...counts(['queued', 'retry', 'running', 'failed']), description: 'tasks by state' },
  imports: {
    ...counts(JOB_STATUSES),
    description: 'jobs by status: those of the last 24 hours, and all that have not ended',
  },
  datasets: COUNT,
  runs: COUNT,
  database: shape({ bytes: COUNT }),
  disk: {
    ...shape({ bytes: COUNT, free_bytes: COUNT }),
    type: ['object', 'null'],
    description: 'the disk of `SVC_DATA_DIR`',
  },
  asset_store: shape({
    kind: { type: 'string', enum: ['database', 's3'] },
    files: { ...COUNT, description: 'each content once' },
    bytes: COUNT,
  }),
  provider_requests: {
    type: 'array',
    maxItems: HISTORY_MINUTES,
    description:
      'requests to model providers by minute, of the last six hours; minutes without any are left out',
    items: shape({ minute: TIME, requests: COUNT, errors: COUNT }),
  },
  limits: { ...counts(LIMITS.map(snakeCase)), description: 'configured limits; 0 means no limit' },
});

export function statusRoute({ store, config, workers, version }: RouteDeps): Route {
  const measure = keptFor(MEASURED_MS, () => store.measure());
  return {
    method: 'get',
    path: '/status',
    operationId: 'getStatus',
    summary: 'Workers, queue, imports, sizes, requests to model providers, and limits',
    tag: 'operation',
    access: 'viewer',
    responses: ok('the state of the whole installation', STATUS),
    handle: async () => {
      const [measured, queue, disk] = await Promise.all([
        measure(),
        store.queueSizes(),
        statfs(config.dataDir).catch(() => null),
      ]);
      const nowMs = Date.now();
      return json({
        version,
        workers: workers
          .workers(nowMs)
          .map((worker) => WORKER.toBody({ ...worker, startedAt: new Date(worker.startedAtMs) })),
        queue: { ...queue },
        imports: Object.fromEntries(JOB_STATUSES.map((status) => [status, measured.jobs[status] ?? 0])),
        datasets: measured.datasets,
        runs: measured.runs,
        database: { bytes: measured.databaseBytes },
        disk:
          disk === null ? null : { bytes: disk.blocks * disk.bsize, free_bytes: disk.bavail * disk.bsize },
        asset_store: {
          kind: config.assetStore === null ? 'database' : 's3',
          files: measured.assets.count,
          bytes: measured.assets.bytes,
        },
        provider_requests: workers.providerMinutes(nowMs).map(({ minute, requests, errors }) => ({
          minute: new Date(minute * MINUTE_MS).toISOString(),
          requests,
          errors,
        })),
        limits: Object.fromEntries(LIMITS.map((name) => [snakeCase(name), config[name]])),
      });
    },
  };
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Asks once for all who ask within a time; a failure is not kept. */
function keptFor<T>(keptMs: number, ask: () => Promise<T>): () => Promise<T> {
  let kept: Promise<T> | undefined;
  let askedAtMs = 0;
  return () => {
    if (kept !== undefined && performance.now() - askedAtMs < keptMs) return kept;
    askedAtMs = performance.now();
    const asked = ask();
    kept = asked;
    asked.catch(() => {
      if (kept === asked) kept = undefined;
    });
    return asked;
  };
}

const RECORD = record<Awaited<ReturnType<Store['settings']['get']>>>({
  cancellation_check_interval_ms: { type: 'integer', minimum: 250, maximum: 60_000 },
});

const TELEMETRY: Schema = {
  type: 'string',
  enum: ['opt-in', 'off'],
  description:
    '`off` if the operator refuses all events of the tour (`SVC_TELEMETRY`); no request changes it',
};

export const SETTINGS: Schema = shape({ ...RECORD.members, telemetry: TELEMETRY });

export function settingsRoutes({ config, store, logger }: RouteDeps): readonly Route[] {
  const common = {
    path: '/settings',
    tag: 'settings',
    responses: ok('the settings', SETTINGS),
  } as const;
  const body = (settings: Awaited<ReturnType<Store['settings']['get']>>) =>
    json({ ...RECORD.toBody(settings), telemetry: config.telemetry });
  return [
    {
      ...common,
      method: 'get',
      operationId: 'getSettings',
      summary: 'The settings',
      access: 'viewer',
      handle: async () => body(await store.settings.get()),
    },
    {
      ...common,
      method: 'patch',
      operationId: 'updateSettings',
      summary: 'Change settings; they take effect without a restart',
      access: 'admin',
      body: {
        contentType: 'application/json',
        schema: { type: 'object', properties: RECORD.members, additionalProperties: false, minProperties: 1 },
      },
      errors: ['not_found'],
      handle: async ({ body: changes, caller }) => {
        // They are of no dataset.
        if (caller.handles !== null) throw notVisible();
        const settings = await store.settings.update(named(changes));
        logger.log('settings.update', { changed: changes as Record<string, number> });
        return body(settings);
      },
    },
  ];
}

/** The path of a page: no host, no query, no fragment, no text. */
const PATH =
  "^/(?:(?:[A-Za-z0-9._~:@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})(?:[A-Za-z0-9._~:@!$&'()*+,;=-]|%[0-9A-Fa-f]{2}|/)*)?$";

/** Logs a step of the tour for a browser user who consents, unless the operator refuses all. Nothing is stored or sent. */
export function telemetryRoute({ config, logger }: RouteDeps): Route {
  return {
    method: 'post',
    path: '/telemetry/onboarding',
    operationId: 'sendOnboardingTelemetry',
    summary: 'Report a step of the onboarding, with the consent of the browser user',
    tag: 'settings',
    access: 'viewer',
    isAnonymous: true,
    body: jsonBody(
      {
        consent: {
          type: 'boolean',
          enum: [true],
          description: 'the browser user has switched telemetry on; nobody can for others',
        },
        lifecycle: { enum: ['started', 'step_viewed', 'completed', 'dismissed'], type: 'string' },
        route: {
          type: 'string',
          maxLength: 200,
          pattern: PATH,
          'x-rule': 'must be the path of a page without query',
        },
        time_zone: { type: 'string', maxLength: 64 },
        tutorial_version: {
          type: ['string', 'integer'],
          maxLength: 32,
          pattern: '^[A-Za-z0-9][A-Za-z0-9._+-]*$',
          'x-rule': 'must be a version such as 1.0',
        },
        anonymous_session_id: { type: 'string', format: 'uuid' },
      },
      ['consent', 'lifecycle', 'route', 'time_zone', 'tutorial_version', 'anonymous_session_id'],
    ),
    responses: {
      202: {
        description: 'the event was logged',
        schema: shape({ accepted: { type: 'boolean', enum: [true] } }),
      },
    },
    handle: async ({ body }) => {
      if (config.telemetry === 'off') {
        throw new RequestError('forbidden', 'This service takes no telemetry: SVC_TELEMETRY is off.');
      }
      type Event = EventFields['onboarding_telemetry.received'];
      const { consent: _, ...event } = body as unknown as Event & { readonly consent: true };
      if (!isTimeZone(event.time_zone)) {
        throw invalidRequest(
          '/time_zone',
          'time_zone must be the name of a time zone, such as Europe/Vienna.',
        );
      }
      logger.log('onboarding_telemetry.received', event);
      return json({ accepted: true }, 202);
    },
  };
}

/** Whether this is a name of the IANA time zone database; offsets such as `+01:00` are not. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

const MOMENT = 'a date, its beginning in UTC, or a time with its zone';

const FILTERS: Readonly<Record<string, Schema>> = {
  actor: { type: 'string', description: 'name of a key, or `anonymous`' },
  action: { type: 'string', enum: AUDIT_ACTIONS },
  object: {
    type: 'string',
    description: 'id of a dataset, run or job, or handle of a dataset, with its runs',
  },
  from: { type: 'string', description: `changes at this time or later: ${MOMENT}` },
  to: { type: 'string', description: `changes before this time: ${MOMENT}` },
};

const AUDIT_ENTRY: Schema = shape({
  id: UUID,
  at: TIME,
  actor: shape({
    name: { type: 'string' },
    role: { ...TEXT_OR_NULL, description: 'null where it is not known' },
  }),
  action: { type: 'string', enum: AUDIT_ACTIONS },
  object: shape(
    {
      kind: { type: 'string', enum: ['dataset', 'run', 'job', 'settings'] },
      id: TEXT_OR_NULL,
      name: { ...TEXT_OR_NULL, description: 'what it was called then' },
      handle: { type: 'string', description: 'of the dataset, at that time' },
      version: { type: 'integer', description: 'of the dataset' },
    },
    ['handle', 'version'],
  ),
  details: { type: 'object', additionalProperties: true, description: 'counts, and names of what changed' },
  request_id: TEXT_OR_NULL,
});

export function auditRoutes({ store: { audit } }: RouteDeps): readonly Route[] {
  const common = { method: 'get', tag: 'operation', access: 'admin' } as const;
  const tables = (['csv', 'jsonl'] as const).map((format): Route => {
    const table = tableRoute(format, {
      columns: AUDIT_COLUMNS,
      open: async (request) => {
        const conditions = wanted<AuditConditions>(request, momentsOf(request.query));
        return { read: () => audit.read(conditions, request.signal), async [Symbol.asyncDispose]() {} };
      },
      table: ({ read }, choice) => auditTable(read, { format, ...choice }),
    });
    return {
      ...{ ...common, ...table, path: `/audit.${format}` },
      operationId: format === 'csv' ? 'downloadAuditCsv' : 'downloadAuditJsonl',
      summary: 'Every change, newest first, one row each',
      query: { ...FILTERS, ...table.query },
    };
  });
  return [
    {
      ...common,
      path: '/audit',
      operationId: 'listAudit',
      summary:
        'Who changed what and when, newest first; of a key with `handles`, in the datasets that it sees',
      query: { ...PAGE_QUERY, ...FILTERS },
      responses: ok('a page', page(AUDIT_ENTRY)),
      handle: (request) =>
        listed(request, audit.list(wanted(request, momentsOf(request.query))), serializeEntry),
    },
    ...tables,
  ];
}

const momentsOf = (query: RouteRequest['query']): Pick<AuditConditions, 'from' | 'to'> => ({
  from: momentOf(query, 'from'),
  to: momentOf(query, 'to'),
});

function momentOf(query: RouteRequest['query'], name: 'from' | 'to'): Date | undefined {
  const text = query[name] as string | undefined;
  if (text === undefined) return undefined;
  const moment = readTime(text);
  if (moment !== null) return moment;
  throw invalidRequest(name, `${name} must be ${MOMENT}, got ${JSON.stringify(text.slice(0, 50))}.`);
}

function serializeEntry(entry: AuditEntry) {
  const { id, createdAt, actor, role, action, kind, objectId, name, handle, version, details, requestId } =
    entry;
  return {
    ...{ id, at: createdAt, actor: { name: actor, role }, action },
    object: {
      kind,
      id: objectId,
      name,
      ...(handle !== null && { handle }),
      ...(version !== null && { version }),
    },
    ...{ details: new JsonText(details), request_id: requestId },
  };
}
