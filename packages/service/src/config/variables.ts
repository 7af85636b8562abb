// One table with one entry per environment variable; docs/configuration.md is tested against it, so it stays in one file.

import { Secret } from '../secrets/secret.ts';
import { connectionConfig } from '../store/postgres.ts';
import { KEY, MIN_KEY_LENGTH, parseKeyList, readKeysFile } from './api-keys.ts';
import { type AllowedHost, parseAuthority } from './authority.ts';
import { parseS3Location } from './s3-location.ts';

export interface Variable<T> {
  readonly name: string;
  /** As the documentation prints it. */
  readonly default: string;
  readonly description: string;
  readonly secret: boolean;
  readonly parse: (text: string | undefined) => T;
}

type Unnamed<T> = Omit<Variable<T>, 'name'>;

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;

const variable = <T>(fallback: string, description: string, parse: Variable<T>['parse']): Unnamed<T> => {
  return { default: fallback, description, secret: false, parse };
};

function integer(fallback: number, [min, max]: readonly [number, number], description: string) {
  return variable(String(fallback), description, (text): number => {
    if (text === undefined) return fallback;
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new Error(`must be a whole number from ${min} to ${max}, got ${JSON.stringify(text)}`);
  });
}

const bytes = (fallback: number, description: string) =>
  integer(fallback, [1, Number.MAX_SAFE_INTEGER], description);

const milliseconds = (fallback: number, description: string) =>
  integer(fallback, [1, 2 ** 31 - 1], description);

const text = (fallback: string, description: string) =>
  variable(fallback, description, (value) => value ?? fallback);

function oneOf<const T extends string>(fallback: T, choices: readonly T[], description: string) {
  return variable(fallback, description, (value): T => {
    const found = choices.find((choice) => choice === (value ?? fallback));
    if (found !== undefined) return found;
    throw new Error(`must be one of ${choices.join(', ')}, got ${JSON.stringify(value)}`);
  });
}

const flag = (description: string) =>
  variable('false', description, (value): boolean => {
    if (value === undefined || value === 'false') return false;
    if (value === 'true') return true;
    throw new Error(`must be true or false, got ${JSON.stringify(value)}`);
  });

const httpUrl = (fallback: string, description: string) =>
  variable(fallback, description, (value = fallback): string => {
    const url = URL.parse(value);
    if (url !== null && (url.protocol === 'http:' || url.protocol === 'https:') && url.username === '') {
      return value.replace(/(?<!\/)\/+$/, '');
    }
    throw new Error('must be an http or https URL without user information');
  });

/** The entries of a list with commas; an empty one is none. */
const list = <T>(description: string, parseEntry: (entry: string) => T) =>
  variable('none', description, (value = ''): readonly T[] => {
    const entries = value.split(',').map((entry) => entry.trim());
    return entries.filter((entry) => entry !== '').map(parseEntry);
  });

/** A token for an `Authorization` header: visible ASCII, at most 512 characters. */
const TOKEN = /^[\x21-\x7e]{1,512}$/;

function secret(fallback: string, description: string, isValid: (value: string) => boolean, what: string) {
  const parse = (value: string | undefined): Secret | undefined => {
    if (value === undefined) return undefined;
    if (isValid(value)) return new Secret(value);
    throw new Error(`must be ${what}`);
  };
  return { ...variable(fallback, description, parse), secret: true };
}

/** A key of this service: requests are compared with it, or other keys derived from it. */
const key = (description: string, isOne: (value: string) => boolean, what: string) =>
  secret('none', `${description}; at least ${MIN_KEY_LENGTH} characters`, isOne, what);

function parseConsoleName(value = 'svc'): string {
  if (/^[^\p{Cc}]{1,60}$/u.test(value) && value.trim() !== '') return value.trim();
  throw new Error(`must be 1 to 60 characters without control characters, got ${JSON.stringify(value)}`);
}

function parseOrigin(origin: string): string {
  if (origin === '*' || URL.parse(origin)?.origin === origin) return origin;
  throw new Error(`${JSON.stringify(origin)} is not an origin such as https://example.org`);
}

function parseAllowedHost(host: string): AllowedHost {
  const found = parseAuthority(host, 'http');
  if (found === null || !/^[\w.[\]:-]+$/.test(found.name)) {
    throw new Error(`${JSON.stringify(host)} is not a host such as svc.example.org or svc.example.org:8443`);
  }
  const hasPort = /:\d+$/.test(host.replace(/\[[^\]]{0,64}\]/, ''));
  return { name: found.name, port: hasPort ? found.port : undefined };
}

/** `host` or `host:port` as URLs write them, an IPv6 address in brackets. */
const HOST_AND_PORT = /^(\[[0-9a-f:.]{2,45}\]|[^\s:/?#@*\\[\]]{1,253})(?::(\d{1,5}))?$/i;

function parseHost(text: string): string {
  const [, name, port] = HOST_AND_PORT.exec(text) ?? [];
  const host = name === undefined ? undefined : URL.parse(`http://${name}/`)?.hostname;
  const isPort = port === undefined || (Number(port) >= 1 && Number(port) <= 65_535);
  if (host !== undefined && isPort) return port === undefined ? host : `${host}:${Number(port)}`;
  throw new Error(`must be a comma-separated list of host[:port] or *, got ${JSON.stringify(text)}`);
}

const isPostgresUrl = (value: string): boolean => {
  const url = URL.parse(value);
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) return false;
  connectionConfig({ url: value });
  try {
    decodeURIComponent(`${url.username}:${url.password}`);
  } catch {
    throw new Error('must have each % of its user and password as %25');
  }
  return true;
};

const postgresUrl = (fallback: string, description: string) =>
  secret(fallback, description, isPostgresUrl, 'a postgresql:// URL');

/** Variables whose names are not `SVC_` and the name in the code. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  databaseUrl: 'DATABASE_URL',
  databaseDirectUrl: 'DATABASE_DIRECT_URL',
  assetStore: 'SVC_ASSET_STORE_URL',
  hubEndpoint: 'HUB_ENDPOINT',
  hubToken: 'HUB_TOKEN',
  maxStagingPercent: 'SVC_MAX_SPOOL_PERCENT',
};

type Named<T> = { readonly [K in keyof T]: T[K] & { readonly name: string } };

function named<T extends Readonly<Record<string, Unnamed<unknown>>>>(variables: T): Named<T> {
  const entries = Object.entries(variables).map(([key, one]) => {
    const name = OTHER_NAMES[key] ?? `SVC_${key.replaceAll(/[A-Z]/g, '_$&').toUpperCase()}`;
    return [key, { ...one, name }];
  });
  return Object.fromEntries(entries) as Named<T>;
}

/** Every environment variable of the service, by its name in the code: `maxRows` is `SVC_MAX_ROWS`. */
export const VARIABLES = named({
  host: text('127.0.0.1', 'address that the API listens on'),
  port: integer(8080, [0, 65_535], 'port that the API listens on; 0 chooses a free one'),
  workerHost: text('127.0.0.1', 'address of the worker’s health and metrics endpoints'),
  workerPort: integer(
    9464,
    [0, 65_535],
    'port of the worker’s health and metrics endpoints; 0 chooses a free one',
  ),
  allowAnonymous: flag('allows binding to a non-loopback address without `SVC_API_KEYS`'),
  allowedHosts: list(
    'comma-separated names that requests may have in `Host` besides: `name` at every port, or `name:port`',
    parseAllowedHost,
  ),
  trustProxy: flag(
    'true if all requests come through your proxy, whose `X-Forwarded-Proto` and last entry of `X-Forwarded-For` are trusted',
  ),
  databaseUrl: postgresUrl(
    'embedded',
    'the PostgreSQL (15 or newer) to use; without it, `npm start` runs an embedded one',
  ),
  databaseDirectUrl: postgresUrl(
    'DATABASE_URL',
    'the same server without a [pooler](operations.md#behind-a-pooler), for notifications and the migrations of `npm start`',
  ),
  distributed: oneOf(
    'none',
    ['none', 'citus'],
    '`citus` if `DATABASE_URL` names the coordinator of a [cluster](operations.md#a-citus-cluster), for `npm start`',
  ),
  databasePoolSize: integer(
    20,
    [4, 1000],
    'connections to PostgreSQL per process, and two for probes; imports, exports and searches hold at most a quarter each, searches one per processor',
  ),
  dataDir: text('./data', 'folder of the embedded database and of uploads in progress'),
  assetStore: variable(
    'the database',
    '[bucket](assets.md#storage) for the bytes of new assets: `s3://bucket/prefix`, and `?endpoint=https://host&region=name` for other servers than Amazon’s',
    (value) => (value === undefined ? null : parseS3Location(value)),
  ),
  apiKeys: {
    ...variable(
      'none',
      'comma-separated [keys](operations.md#keys), `role:key` or `role:key:name`',
      (value) => (value === undefined ? [] : parseKeyList(value)),
    ),
    secret: true,
  },
  apiKeysFile: variable(
    'none',
    'file of [further keys](operations.md#keys), which is read again when it changes',
    (path) => (path === undefined ? null : readKeysFile(path)),
  ),
  metricsKey: key(
    'the key for `/metrics`; without it any API key, and no key where there are none',
    (value) => KEY.test(value),
    'visible ASCII, 16 to 512 characters',
  ),
  jobKey: key(
    'encrypts the hub tokens of asynchronous imports; the same on every API and worker',
    (value) => value.length >= MIN_KEY_LENGTH,
    `at least ${MIN_KEY_LENGTH} characters long`,
  ),
  hubEndpoint: httpUrl('https://huggingface.co', 'the dataset hub'),
  hubToken: secret(
    'none',
    'the hub token for requests that have none',
    (value) => TOKEN.test(value),
    'visible ASCII characters, at most 512',
  ),
  hubCacheDir: variable(
    'none',
    'folder that caches hub files, for all processes that use it; without it, nothing is cached',
    (value) => value,
  ),
  hubCacheBytes: integer(
    10 * GIB,
    [MIB, Number.MAX_SAFE_INTEGER],
    'largest size of that folder; the least recently used files are removed',
  ),
  hubFilesDays: integer(
    7,
    [1, 3_650],
    'days after which the tables for clients of the hub are removed if none has read them; they are made again when one does',
  ),
  hubFilesBytes: integer(
    10 * GIB,
    [MIB, Number.MAX_SAFE_INTEGER],
    'largest size of those tables together; the least recently used are removed',
  ),
  providerAllowedHosts: variable(
    'none',
    'comma-separated `host[:port]` that runs may send to; none or `*` allows every host that is not [link-local](runs.md#configuration)',
    (value) =>
      value === undefined || value === '*' ? null : value.split(',').map((entry) => parseHost(entry.trim())),
  ),
  logLevel: oneOf('info', ['error', 'warn', 'info', 'debug'], 'lowest level that is logged'),
  logFormat: oneOf(
    'auto',
    ['auto', 'json', 'text'],
    '`json`, `text` (short lines for people), or `auto`: `text` on a terminal, else `json`',
  ),
  auditDays: integer(365, [0, 36_500], 'days that the record of changes is kept; 0: for ever'),
  telemetry: oneOf(
    'opt-in',
    ['opt-in', 'off'],
    '`opt-in` logs events of the [tour](console.md#what-it-loads) from users who switched them on; `off` refuses all',
  ),
  consoleName: variable('svc', 'name of the console', parseConsoleName),
  corsOrigins: list(
    'comma-separated origins whose pages may call the API, or, with `SVC_API_KEYS`, `*`',
    parseOrigin,
  ),
  workerConcurrency: integer(0, [0, 256], 'import threads and parallel imports; 0: one per CPU core'),
  runConcurrency: integer(16, [1, 1_000], 'parallel runs per worker'),
  maxUploadBytes: bytes(
    2 * GIB,
    'size of an upload, compressed, so also of an export that is uploaded again',
  ),
  maxArchiveEntries: integer(
    100_000,
    [1, 10_000_000],
    'entries of one archive; an export has one for each file and section, and up to four others',
  ),
  maxUncompressedBytes: bytes(
    20 * GIB,
    'uncompressed bytes of one archive or compressed file, and bytes of the items of one import; a file counts once for each reference',
  ),
  maxExpansionRatio: integer(
    500,
    [1, 1_000_000],
    'bytes that come out over bytes that were sent: of an entry past 1 MiB, of an archive or a mapping past 64 MiB',
  ),
  maxRows: integer(
    50_000_000,
    [0, 1_000_000_000],
    'rows or lines of one import, skipped ones included; 0: no limit',
  ),
  maxLineBytes: bytes(64 * MIB, 'one line of a section, and one item with the files it refers to embedded'),
  maxAssetBytes: bytes(64 * MIB, 'one asset'),
  maxJsonDepth: integer(256, [1, 1_000], 'nesting of JSON'),
  maxJsonBodyBytes: bytes(MIB, 'a JSON request body'),
  maxFormFields: integer(16, [1, 1_000], 'fields of an upload form'),
  maxFormFieldBytes: bytes(64 * KIB, 'one field of an upload form'),
  headersTimeoutMs: milliseconds(10_000, 'time for the headers of a request'),
  idleBodyTimeoutMs: milliseconds(30_000, 'time between two chunks of a request body'),
  jsonRequestTimeoutMs: milliseconds(60_000, 'time for a whole JSON request body'),
  maxConcurrentImports: integer(
    4,
    [1, 1_000],
    'concurrent imports in one API process, up to a quarter of SVC_DATABASE_POOL_SIZE',
  ),
  importWaitMs: milliseconds(30_000, 'time that an import, an upload or a stream may wait for a slot'),
  maxConcurrentUploads: integer(
    16,
    [1, 10_000],
    'concurrent uploads in one API process, at most half for one client; further ones wait like imports',
  ),
  maxStagingPercent: integer(
    50,
    [1, 100],
    'percentage of the free disk space that uploads of one API process may use, and imports into the embedded database',
  ),
  maxStreamsPerClient: integer(
    4,
    [1, 1_000],
    'concurrent exports and item streams per key (or address), and as many assets; further ones wait like imports',
  ),
  maxEventStreamsPerClient: integer(100, [1, 100_000], 'concurrent event streams per key (or address)'),
  slowReaderTimeoutMs: milliseconds(30_000, 'time in which the reader of a stream must take 512 KiB'),
  slowUploadTimeoutMs: milliseconds(60_000, 'time in which an upload must send 64 KiB, or its end'),
  failedKeysPerMinute: integer(10, [1, 1_000_000], 'wrong keys per minute and address'),
  rateLimitPerMinute: integer(0, [0, 1_000_000], 'requests per minute and key (or address); 0: no limit'),
  maxPreviewBytes: bytes(4 * MIB, 'the response of a preview'),
  drainDelayMs: integer(
    0,
    [0, 600_000],
    'time after SIGTERM in which the API is not ready and still serves; 5000 in the images',
  ),
  drainTimeoutMs: milliseconds(30_000, 'time that running work has to end after SIGTERM'),
});
