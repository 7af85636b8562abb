import { readFileSync } from 'node:fs';
import type { Dispatcher } from 'undici';
import { type DatabasePort, given } from './cli-context.ts';
import { CliError, EXIT, usageError } from './errors/cli-error.ts';
import { runCli } from './program.ts';

/**
 * Runs the command line of a process: its arguments, environment, streams and signals. Sets its exit code.
 *
 * @param host the process
 * @param database adds the commands that read a database; null for none
 */
export async function runProcess(host: NodeJS.Process, database: DatabasePort | null): Promise<void> {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const stopped = new AbortController();
  const stopOn = (signal: 'SIGINT' | 'SIGTERM', reason: CliError, exitCode: number): void => {
    host.on(signal, () => {
      // A second signal stops immediately.
      if (stopped.signal.aborted) host.exit(exitCode);
      stopped.abort(reason);
    });
  };
  stopOn('SIGINT', new CliError('interrupted', 'Interrupted'), EXIT.interrupted);
  stopOn('SIGTERM', new CliError('terminated', 'Terminated'), EXIT.terminated);

  // The writer also receives the error; without a listener it would end the process.
  host.stdout.on('error', () => {});
  host.stderr.on('error', () => {});

  let create: () => Promise<Dispatcher>;
  try {
    create = dispatcherOf(host.env);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    host.stderr.write(`svc-pkg: ${error.message} (${error.code})\n`);
    host.exitCode = EXIT.usage;
    return;
  }
  let made: Promise<Dispatcher> | undefined;
  host.exitCode = await runCli(host.argv.slice(2), {
    stdin: host.stdin,
    stdout: host.stdout,
    stderr: host.stderr,
    isOutputTerminal: host.stdout.isTTY === true,
    isTerminal: host.stderr.isTTY === true,
    isInteractive: host.stdin.isTTY === true && host.stderr.isTTY === true,
    columns: Math.min(host.stdout.columns ?? 100, 120),
    hasColours:
      host.stdout.isTTY === true && (host.env['NO_COLOR'] ?? '') === '' && host.env['TERM'] !== 'dumb',
    platform: host.platform,
    env: host.env,
    signal: stopped.signal,
    dispatcher: () => {
      made ??= create();
      return made;
    },
    database,
    ...(database === null ? {} : { program: 'svc-admin' as const }),
    version,
  });
  // Idle connections would keep the process alive for some seconds.
  await (await made)?.destroy();
  host.stdin.destroy();
}

const PROXY_VARIABLES = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY'];
const CONNECT = { connect: { timeout: 10_000 } };

/**
 * Makes the sender of the requests: it uses the proxies that the environment names (`HTTP_PROXY`, `HTTPS_PROXY`,
 * `NO_PROXY`; lower case goes first), else connects directly. The first request loads it.
 */
function dispatcherOf(env: Readonly<Record<string, string | undefined>>): () => Promise<Dispatcher> {
  if (PROXY_VARIABLES.every((name) => (env[name] ?? '') === ''))
    return async () => new (await import('undici')).Agent(CONNECT);
  const value = (name: string): string | undefined => env[name.toLowerCase()] || env[name] || undefined;
  const proxies = given({
    httpProxy: proxyAddress('HTTP_PROXY', value('HTTP_PROXY')),
    httpsProxy: proxyAddress('HTTPS_PROXY', value('HTTPS_PROXY')),
    noProxy: value('NO_PROXY'),
  });
  return async () => {
    const { EnvHttpProxyAgent, Pool } = await import('undici');
    const { namingProxy } = await import('@svc/hub-client/egress');
    return new EnvHttpProxyAgent({
      ...CONNECT,
      clientFactory: (proxy, options) => new Pool(proxy, namingProxy(proxy, options)),
      ...proxies,
    });
  };
}

const PROTOCOLS: ReadonlySet<string> = new Set(['http:', 'https:', 'socks5:', 'socks:']);

/** Without a scheme (`proxy.example:3128`), an HTTP proxy, as for curl. No error shows it: it may hold credentials. */
export function proxyAddress(name: string, value: string | undefined): string | undefined {
  if (value === undefined || value === '') return undefined;
  const address = /^[a-z][a-z0-9+.-]{0,20}:\/\//i.test(value) ? value : `http://${value}`;
  const url = URL.parse(address);
  if (url !== null && PROTOCOLS.has(url.protocol) && url.hostname !== '') return address;
  throw usageError(`${name} must be the address of a proxy, such as http://proxy.example:3128`);
}
