import { readFileSync } from 'node:fs';
import type { ConnectionOptions as TlsOptions } from 'node:tls';

const MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
type Mode = (typeof MODES)[number];

/** Parameters of a URL that decide about TLS; `pg` would read them in its own way. */
const PARAMETERS: ReadonlySet<string> = new Set([
  'ssl',
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'uselibpqcompat',
]);

/** How a connection may begin, in order: the next way is tried where the server refuses the one before. */
export type Attempts = readonly (TlsOptions | false)[];

/** The Unix socket of a server, which has no TLS. */
const isSocket = (url: string): boolean =>
  /[?&]host=(?:\/|%2f)/i.test(url) || /^[^?]*\/\/[^/?]*%2f/i.test(url);

/**
 * What the TLS parameters of a postgresql:// URL mean, as libpq defines them: `sslmode` is `prefer` by default, and
 * `require` with `sslrootcert` verifies the authority. Unlike libpq, `verify-full` without `sslrootcert` uses the authorities
 * of Node.js.
 *
 * @throws Error for a value that libpq does not know, or a file that cannot be read
 */
export function readTls(url: string): { readonly url: string; readonly attempts: Attempts } {
  const [base = '', query = ''] = url.split(/\?(.*)/s);
  const pairs = query.split('&').filter((pair) => pair !== '');
  const nameOf = (pair: string): string => pair.split('=')[0] ?? '';
  const rest = pairs.filter((pair) => !PARAMETERS.has(nameOf(pair)));
  const values = new URLSearchParams(query);
  const stated = attemptsOf(values);
  return {
    url: rest.length === 0 ? base : `${base}?${rest.join('&')}`,
    attempts: isSocket(url) ? [false] : stated,
  };
}

function attemptsOf(values: URLSearchParams): Attempts {
  const roots = values.get('sslrootcert');
  const mode = modeOf(values, roots);
  if (mode === 'disable') return [false];
  const ca = roots === null || roots === 'system' ? undefined : fileOf('sslrootcert', roots);
  const client = {
    ...(values.has('sslcert') ? { cert: fileOf('sslcert', values.get('sslcert') ?? '') } : {}),
    ...(values.has('sslkey') ? { key: fileOf('sslkey', values.get('sslkey') ?? '') } : {}),
  };
  if (mode === 'verify-full') return [{ ...client, ...(ca === undefined ? {} : { ca }) }];
  if (mode === 'verify-ca' || (mode === 'require' && ca !== undefined)) {
    if (ca === undefined) throw new Error('has sslmode=verify-ca, which needs sslrootcert');
    return [{ ...client, ca, checkServerIdentity: () => undefined }];
  }
  const unverified = { ...client, rejectUnauthorized: false };
  if (mode === 'require') return [unverified];
  return mode === 'prefer' ? [unverified, false] : [false, unverified];
}

/** `ssl=true` is how JDBC's URLs say `require`; the authorities of the system verify nothing less than the whole. */
function modeOf(values: URLSearchParams, roots: string | null): Mode {
  const implied = values.get('ssl') === 'true' ? 'require' : 'prefer';
  const stated = values.get('sslmode') ?? (roots === 'system' ? 'verify-full' : implied);
  const mode = MODES.find((known) => known === stated);
  if (mode === undefined) throw new Error(`must have one of ${MODES.join(', ')} as sslmode, got ${stated}`);
  if (roots === 'system' && mode !== 'verify-full') {
    throw new Error('has sslrootcert=system, which needs sslmode=verify-full');
  }
  return mode;
}

function fileOf(name: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new Error(`names a file as ${name} that cannot be read: ${(error as Error).message}`);
  }
}
