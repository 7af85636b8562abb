// One table with one entry per environment variable; docs/configuration.md is tested against it, so it stays in one file.

import { connectionConfig } from '@svc/store/postgres';
import { Secret } from '../secrets/secret.ts';
import { type ApiKey, KEY, type KeysFile, MIN_KEY_LENGTH, parseKeyList, readKeysFile } from './api-keys.ts';
import { type AllowedHost, parseAuthority } from './authority.ts';
import { parseS3Location, type S3Location } from './s3-location.ts';

/** One environment variable: its documentation, and how to parse it. */
export interface Variable<T> {
  readonly name: string;
  /** As the documentation prints it. */
  readonly default: string;
  readonly description: string;
  readonly secret?: boolean;
  /**
   * Parses the text, or undefined for an absent variable.
   *
   * @throws Error that says what is wrong
   */
  readonly parse: (text: string | undefined) => T;
}

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;

function integer(
  name: string,
  fallback: number,
  range: { readonly min: number; readonly max: number },
  description: string,
): Variable<number> {
  return {
    name,
    default: String(fallback),
    description,
    parse: (text) => {
      if (text === undefined) return fallback;
      const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
      if (value >= range.min && value <= range.max) return value;
      throw new Error(
        `must be a whole number from ${range.min} to ${range.max}, got ${JSON.stringify(text)}`,
      );
    },
  };
}

const bytes = (name: string, fallback: number, description: string): Variable<number> =>
  integer(name, fallback, { min: 1, max: Number.MAX_SAFE_INTEGER }, description);

const milliseconds = (name: string, fallback: number, description: string): Variable<number> =>
  integer(name, fallback, { min: 1, max: 2 ** 31 - 1 }, description);

function text(name: string, fallback: string, description: string): Variable<string> {
  return { name, default: fallback, description, parse: (value) => value ?? fallback };
}

function optionalText(name: string, description: string): Variable<string | undefined> {
  return { name, default: 'none', description, parse: (value) => value };
}

function oneOf<const T extends string>(
  name: string,
  fallback: T,
  choices: readonly T[],
  description: string,
): Variable<T> {
  return {
    name,
    default: fallback,
    description,
    parse: (value) => {
      const found = choices.find((choice) => choice === (value ?? fallback));
      if (found !== undefined) return found;
      throw new Error(`must be one of ${choices.join(', ')}, got ${JSON.stringify(value)}`);
    },
  };
}

function flag(name: string, description: string): Variable<boolean> {
  return {
    name,
    default: 'false',
    description,
    parse: (value) => {
      if (value === undefined || value === 'false') return false;
      if (value === 'true') return true;
      throw new Error(`must be true or false, got ${JSON.stringify(value)}`);
    },
  };
}

function httpUrl(name: string, fallback: string, description: string): Variable<string> {
  return {
    name,
    default: fallback,
    description,
    parse: (value) => {
      const url = URL.parse(value ?? fallback);
      if (url !== null && (url.protocol === 'http:' || url.protocol === 'https:') && url.username === '') {
        return (value ?? fallback).replace(/(?<!\/)\/+$/, '');
      }
      throw new Error('must be an http or https URL without user information');
    },
  };
}

/** A token for an `Authorization` header: visible ASCII, at most 512 characters. */
const TOKEN = /^[\x21-\x7e]{1,512}$/;

/** A value that does not print. */
function secret(
  name: string,
  fallback: string,
  description: string,
  isValid: (value: string) => boolean,
  what: string,
): Variable<Secret | undefined> {
  return {
    name,
    default: fallback,
    description,
    secret: true,
    parse: (value) => {
      if (value === undefined) return undefined;
      if (isValid(value)) return new Secret(value);
      throw new Error(`must be ${what}`);
    },
  };
}

/** A key of this service: requests are compared with it, or other keys derived from it. */
const key = (
  name: string,
  description: string,
  isOne: (value: string) => boolean,
  what: string,
): Variable<Secret | undefined> =>
  secret(name, 'none', `${description}; at least ${MIN_KEY_LENGTH} characters`, isOne, what);

const apiKeys: Variable<readonly ApiKey[]> = {
  name: 'SVC_API_KEYS',
  default: 'none',
  description:
    'comma-separated list of `role:key` or `role:key:name`, with `;expires=2027-01-01` and `;handles=team-a-` for [limited keys](operations.md#keys); sent as `Authorization: Bearer <key>`',
  secret: true,
  parse: (value) => (value === undefined ? [] : parseKeyList(value)),
};

const apiKeysFile: Variable<KeysFile | null> = {
  name: 'SVC_API_KEYS_FILE',
  default: 'none',
  description:
    'JSON array of further keys, `{"role", "key" or "key_sha256", "name", "expires", "handles"}`, which is read again when it changes',
  parse: (path) => (path === undefined ? null : readKeysFile(path)),
};

const consoleName: Variable<string> = {
  name: 'SVC_CONSOLE_NAME',
  default: 'svc',
  description: 'what the console calls itself: in its navigation, its titles and where people sign in',
  parse: (value = 'svc') => {
    if (/^[^\p{Cc}]{1,60}$/u.test(value) && value.trim() !== '') return value.trim();
    throw new Error(`must be 1 to 60 characters without control characters, got ${JSON.stringify(value)}`);
  },
};

const origins: Variable<readonly string[]> = {
  name: 'SVC_CORS_ORIGINS',
  default: 'none',
  description: 'comma-separated list of origins whose pages may call the API, or, with `SVC_API_KEYS`, `*`',
  parse: (value) =>
    (value ?? '')
      .split(',')
      .map((origin) => origin.trim())
      .filter((origin) => origin !== '')
      .map((origin) => {
        if (origin === '*' || URL.parse(origin)?.origin === origin) return origin;
        throw new Error(`${JSON.stringify(origin)} is not an origin such as https://example.org`);
      }),
};

const allowedHosts: Variable<readonly AllowedHost[]> = {
  name: 'SVC_ALLOWED_HOSTS',
  default: 'none',
  description:
    'comma-separated list of further names that requests may have in `Host`: `name` at every port, or `name:port`',
  parse: (value) =>
    (value ?? '')
      .split(',')
      .map((host) => host.trim())
      .filter((host) => host !== '')
      .map((host) => {
        const found = parseAuthority(host, 'http');
        if (found === null || !/^[\w.[\]:-]+$/.test(found.name)) {
          throw new Error(
            `${JSON.stringify(host)} is not a host such as svc.example.org or svc.example.org:8443`,
          );
        }
        return {
          name: found.name,
          port: /:\d+$/.test(host.replace(/\[[^\]]{0,64}\]/, '')) ? found.port : undefined,
        };
      }),
};

/** `host` or `host:port` as URLs write them, an IPv6 address in brackets. */
const HOST_AND_PORT = /^(\[[0-9a-f:.]{2,45}\]|[^\s:/?#@*\\[\]]{1,253})(?::(\d{1,5}))?$/i;

function parseHost(text: string): string {
  const [, name, port] = HOST_AND_PORT.exec(text) ?? [];
  const host = name === undefined ? undefined : URL.parse(`http://${name}/`)?.hostname;
  const isPort = port === undefined || (Number(port) >= 1 && Number(port) <= 65_535);
  if (host !== undefined && isPort) return port === undefined ? host : `${host}:${Number(port)}`;
  throw new Error(`must be a comma-separated list of host[:port] or *, got ${JSON.stringify(text)}`);
}

const providerAllowedHosts: Variable<readonly string[] | null> = {
  name: 'SVC_PROVIDER_ALLOWED_HOSTS',
  default: 'none',
  description:
    'comma-separated list of `host[:port]` that runs may send to; none or `*` allows every host. Link-local addresses are always refused',
  parse: (value) =>
    value === undefined || value === '*' ? null : value.split(',').map((entry) => parseHost(entry.trim())),
};

const isPostgresUrl = (value: string): boolean => {
  if (!/^postgres(ql)?:$/.test(URL.parse(value)?.protocol ?? '')) return false;
  connectionConfig({ url: value });
  return true;
};

const postgresUrl = (name: string, fallback: string, description: string): Variable<Secret | undefined> =>
  secret(name, fallback, description, isPostgresUrl, 'a postgresql:// URL');

const assetStore: Variable<S3Location | null> = {
  name: 'SVC_ASSET_STORE_URL',
  default: 'the database',
  description:
    'bucket that keeps the bytes of new assets: `s3://bucket/prefix`, with `?endpoint=https://host` and `&region=name` for a server other than Amazon’s',
  parse: (value) => (value === undefined ? null : parseS3Location(value)),
};

/** Every environment variable of the service, by its name in the code. */
export const VARIABLES = {
  host: text('SVC_HOST', '127.0.0.1', 'address that the API listens on'),
  port: integer(
    'SVC_PORT',
    8080,
    { min: 0, max: 65_535 },
    'port that the API listens on; 0 chooses a free one',
  ),
  workerHost: text('SVC_WORKER_HOST', '127.0.0.1', 'address of the worker’s health and metrics endpoints'),
  workerPort: integer(
    'SVC_WORKER_PORT',
    9464,
    { min: 0, max: 65_535 },
    'port of the worker’s health and metrics endpoints; 0 chooses a free one',
  ),
  allowAnonymous: flag(
    'SVC_ALLOW_ANONYMOUS',
    'allows binding to a non-loopback address without `SVC_API_KEYS`',
  ),
  allowedHosts,
  trustProxy: flag(
    'SVC_TRUST_PROXY',
    'true if all requests come through your proxy: the service then trusts `X-Forwarded-Proto` and the last entry of `X-Forwarded-For`',
  ),
  databaseUrl: postgresUrl(
    'DATABASE_URL',
    'embedded',
    'the PostgreSQL (15 or newer) to use; without it, `npm start` runs an embedded one',
  ),
  databaseDirectUrl: postgresUrl(
    'DATABASE_DIRECT_URL',
    'DATABASE_URL',
    'the same server without a pooler, for notifications and the migrations of `npm start`; needed only behind a pooler in transaction mode',
  ),
  distributed: oneOf(
    'SVC_DISTRIBUTED',
    'none',
    ['none', 'citus'],
    'whether `npm start` spreads the large tables over the nodes of a Citus cluster, whose coordinator `DATABASE_URL` names',
  ),
  databasePoolSize: integer(
    'SVC_DATABASE_POOL_SIZE',
    20,
    { min: 4, max: 1000 },
    'connections to PostgreSQL per process, and two for probes; imports, exports and searches hold at most a quarter each, searches at most one per processor',
  ),
  dataDir: text('SVC_DATA_DIR', './data', 'folder of the embedded database and of uploads in progress'),
  assetStore,
  apiKeys,
  apiKeysFile,
  metricsKey: key(
    'SVC_METRICS_KEY',
    'the bearer key for `/metrics`; without it any API key, and no key where there are none',
    (value) => KEY.test(value),
    'visible ASCII, 16 to 512 characters',
  ),
  jobKey: key(
    'SVC_JOB_KEY',
    'secret that encrypts the hub tokens of asynchronous imports; the same on every api and worker',
    (value) => value.length >= MIN_KEY_LENGTH,
    `at least ${MIN_KEY_LENGTH} characters long`,
  ),
  hubEndpoint: httpUrl('HUB_ENDPOINT', 'https://huggingface.co', 'the dataset hub'),
  hubToken: secret(
    'HUB_TOKEN',
    'none',
    'the hub token for requests that have none',
    (value) => TOKEN.test(value),
    'visible ASCII characters, at most 512',
  ),
  hubCacheDir: optionalText(
    'SVC_HUB_CACHE_DIR',
    'folder that caches the contents of hub files by commit and path, for all processes that use it; without it, nothing is cached',
  ),
  hubCacheBytes: integer(
    'SVC_HUB_CACHE_BYTES',
    10 * GIB,
    { min: MIB, max: Number.MAX_SAFE_INTEGER },
    'largest size of that folder; the least recently used files are removed',
  ),
  hubFilesDays: integer(
    'SVC_HUB_FILES_DAYS',
    7,
    { min: 1, max: 3_650 },
    'days after which the tables that clients of the hub read are removed if none has read them; they are made again when one does',
  ),
  hubFilesBytes: integer(
    'SVC_HUB_FILES_BYTES',
    10 * GIB,
    { min: MIB, max: Number.MAX_SAFE_INTEGER },
    'largest size of those tables together; the least recently used are removed',
  ),
  providerAllowedHosts,
  logLevel: oneOf('SVC_LOG_LEVEL', 'info', ['error', 'warn', 'info', 'debug'], 'lowest level that is logged'),
  logFormat: oneOf(
    'SVC_LOG_FORMAT',
    'auto',
    ['auto', 'json', 'text'],
    '`json` writes a JSON object a line, `text` short lines for people; `auto` writes `text` to a terminal, else `json`',
  ),
  auditDays: integer(
    'SVC_AUDIT_DAYS',
    365,
    { min: 0, max: 36_500 },
    'days that the record of changes is kept; 0: for ever',
  ),
  telemetry: oneOf(
    'SVC_TELEMETRY',
    'opt-in',
    ['opt-in', 'off'],
    '`opt-in` takes events of the tour from browsers whose users switched them on, and logs them; `off` refuses all',
  ),
  consoleName,
  corsOrigins: origins,
  workerConcurrency: integer(
    'SVC_WORKER_CONCURRENCY',
    0,
    { min: 0, max: 256 },
    'import threads and parallel imports; 0 means one per CPU core',
  ),
  runConcurrency: integer(
    'SVC_RUN_CONCURRENCY',
    16,
    { min: 1, max: 1_000 },
    'parallel runs per worker; a run that waits for its provider uses no core',
  ),
  maxUploadBytes: bytes(
    'SVC_MAX_UPLOAD_BYTES',
    2 * GIB,
    'size of an upload, compressed; a larger export is refused where it is uploaded, unless this is raised there',
  ),
  maxArchiveEntries: integer(
    'SVC_MAX_ARCHIVE_ENTRIES',
    100_000,
    { min: 1, max: 10_000_000 },
    'entries of one archive; an export has one for each file and section, and up to four others',
  ),
  maxUncompressedBytes: bytes(
    'SVC_MAX_UNCOMPRESSED_BYTES',
    20 * GIB,
    'uncompressed bytes of one archive or compressed file, and bytes of the items of one import; a file counts once for each reference',
  ),
  maxExpansionRatio: integer(
    'SVC_MAX_EXPANSION_RATIO',
    500,
    { min: 1, max: 1_000_000 },
    'bytes that come out over bytes that were sent: of an entry past 1 MiB, of an archive or a mapping past 64 MiB',
  ),
  maxRows: integer(
    'SVC_MAX_ROWS',
    50_000_000,
    { min: 0, max: 1_000_000_000 },
    'rows or lines that one import reads, skipped ones included; 0: no limit',
  ),
  maxLineBytes: bytes(
    'SVC_MAX_LINE_BYTES',
    64 * MIB,
    'one line of a section, and one item with the files it refers to embedded',
  ),
  maxAssetBytes: bytes('SVC_MAX_ASSET_BYTES', 64 * MIB, 'one asset'),
  maxJsonDepth: integer('SVC_MAX_JSON_DEPTH', 256, { min: 1, max: 1_000 }, 'nesting of JSON'),
  maxJsonBodyBytes: bytes('SVC_MAX_JSON_BODY_BYTES', MIB, 'a JSON request body'),
  maxFormFields: integer('SVC_MAX_FORM_FIELDS', 16, { min: 1, max: 1_000 }, 'fields of an upload form'),
  maxFormFieldBytes: bytes('SVC_MAX_FORM_FIELD_BYTES', 64 * KIB, 'one field of an upload form'),
  headersTimeoutMs: milliseconds('SVC_HEADERS_TIMEOUT_MS', 10_000, 'time for the headers of a request'),
  idleBodyTimeoutMs: milliseconds(
    'SVC_IDLE_BODY_TIMEOUT_MS',
    30_000,
    'time between two chunks of a request body',
  ),
  jsonRequestTimeoutMs: milliseconds(
    'SVC_JSON_REQUEST_TIMEOUT_MS',
    60_000,
    'time for a whole JSON request body',
  ),
  maxConcurrentImports: integer(
    'SVC_MAX_CONCURRENT_IMPORTS',
    4,
    { min: 1, max: 1_000 },
    'concurrent imports in one API process, up to a quarter of SVC_DATABASE_POOL_SIZE',
  ),
  importWaitMs: milliseconds(
    'SVC_IMPORT_WAIT_MS',
    30_000,
    'time that an import, an upload or a stream may wait for a slot',
  ),
  maxConcurrentUploads: integer(
    'SVC_MAX_CONCURRENT_UPLOADS',
    16,
    { min: 1, max: 10_000 },
    'concurrent uploads in one API process, from first to last byte, at most half of them for one client; further ones wait like imports',
  ),
  maxStagingPercent: integer(
    'SVC_MAX_SPOOL_PERCENT',
    50,
    { min: 1, max: 100 },
    'percentage of the free disk space that all uploads of one API process may use, and all imports into the embedded database',
  ),
  maxStreamsPerClient: integer(
    'SVC_MAX_STREAMS_PER_CLIENT',
    4,
    { min: 1, max: 1_000 },
    'concurrent exports and item streams per key, or per address without keys, and as many assets; further ones wait like imports',
  ),
  maxEventStreamsPerClient: integer(
    'SVC_MAX_EVENT_STREAMS_PER_CLIENT',
    100,
    { min: 1, max: 100_000 },
    'concurrent event streams per key, or per address without keys',
  ),
  slowReaderTimeoutMs: milliseconds(
    'SVC_SLOW_READER_TIMEOUT_MS',
    30_000,
    'time in which the reader of a stream must take 512 KiB',
  ),
  slowUploadTimeoutMs: milliseconds(
    'SVC_SLOW_UPLOAD_TIMEOUT_MS',
    60_000,
    'time in which an upload must send 64 KiB, or its end',
  ),
  failedKeysPerMinute: integer(
    'SVC_FAILED_KEYS_PER_MINUTE',
    10,
    { min: 1, max: 1_000_000 },
    'wrong keys per minute and address',
  ),
  rateLimitPerMinute: integer(
    'SVC_RATE_LIMIT_PER_MINUTE',
    0,
    { min: 0, max: 1_000_000 },
    'requests per minute and key or address; 0 means no limit',
  ),
  maxPreviewBytes: bytes('SVC_MAX_PREVIEW_BYTES', 4 * MIB, 'the response of a preview'),
  drainDelayMs: integer(
    'SVC_DRAIN_DELAY_MS',
    0,
    { min: 0, max: 600_000 },
    'time after SIGTERM in which the API is not ready and still serves, so that a balancer notices before it closes; 5000 in the images',
  ),
  drainTimeoutMs: milliseconds(
    'SVC_DRAIN_TIMEOUT_MS',
    30_000,
    'time that running work has to end after SIGTERM',
  ),
} as const satisfies Record<string, Variable<unknown>>;
