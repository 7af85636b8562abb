import { setFlagsFromString } from 'node:v8';
import { type Config, ConfigError, EXIT_CONFIG, loadConfig } from '../config/load-config.ts';
import { VARIABLES } from '../config/variables.ts';
import { createLogger, type Logger, type ServiceName } from '../telemetry/create-logger.ts';

export interface Running {
  /** Stops accepting work, finishes what is running (rolled back when `signal` aborts first), and frees everything. */
  stop(signal: AbortSignal): Promise<void>;
  /** Resolves when something that the service depends on has ended: the service then exits. */
  readonly failed?: Promise<Error>;
}

/** Starts a service. When `signal` aborts before that, it frees everything and throws; a service it still returns is stopped. */
export type StartService = (config: Config, logger: Logger, signal: AbortSignal) => Promise<Running>;

/** The parts of `process` that a service uses; `main.ts` passes them. */
export type ProcessHandle = Pick<NodeJS.Process, 'env' | 'on' | 'exit' | 'stdout' | 'stderr' | 'connected'>;

interface Reason {
  readonly name: string;
  readonly exitCode: number;
  /** Exit code of a process that has not started: what a shell reports if a signal ended it. */
  readonly exitCodeOfStart: number;
}

const SIGTERM: Reason = { name: 'SIGTERM', exitCode: 0, exitCodeOfStart: 143 };
const SIGINT: Reason = { name: 'SIGINT', exitCode: 0, exitCodeOfStart: 130 };
/** The parent process with an IPC channel to this one has ended, and cannot stop this one any more. */
const DISCONNECT: Reason = { name: 'disconnect', exitCode: 0, exitCodeOfStart: 1 };
const failure = (name: string): Reason => ({ name, exitCode: 1, exitCodeOfStart: 1 });

/** Treat signals within this time as one: the terminal sends one, and npm repeats it. */
const SAME_SIGNAL_MS = 300;

/**
 * Runs a service until the process exits: reads the configuration, starts the service, and drains it within
 * `SVC_DRAIN_DELAY_MS` and `SVC_DRAIN_TIMEOUT_MS` on SIGTERM, on SIGINT, or when the parent process with an IPC channel
 * ends. A second signal ends the process immediately. Exit codes: 0 stopped, 1 failed to start, crashed, or ended by a
 * second signal, 78 invalid configuration, 130 and 143 stopped by SIGINT or SIGTERM before it had started.
 */
export async function runProcess(
  service: ServiceName,
  proc: ProcessHandle,
  start: StartService,
): Promise<void> {
  let config: Config;
  try {
    config = loadConfig(proc.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    proc.stderr.write(`${error.message}\n`);
    proc.exit(EXIT_CONFIG);
    return;
  }
  const onTerminal = config.logFormat === 'auto' && proc.stdout.isTTY;
  const format = onTerminal || config.logFormat === 'text' ? 'text' : 'json';
  const logger = createLogger({
    service,
    level: config.logLevel,
    format,
    secrets: secretsOf(config).all,
  });
  logger.log('config.loaded', { settings: settingsOf(config) });

  const aborted = new AbortController();
  let running: Running | undefined;
  let stoppingSince: number | undefined;
  const stop = async (reason: Reason): Promise<void> => {
    const now = performance.now();
    if (stoppingSince !== undefined) {
      if (now - stoppingSince < SAME_SIGNAL_MS) return;
      proc.exit(1);
      return;
    }
    stoppingSince = now;
    const exitCode = running === undefined ? reason.exitCodeOfStart : reason.exitCode;
    const timeoutMs = config.drainDelayMs + config.drainTimeoutMs;
    logger.log('server.drain', { reason: reason.name, timeout_ms: timeoutMs });
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      aborted.abort(new Error(`${reason.name} aborted the start.`));
      await (running ?? (await settled(starting, timeout)))?.stop(timeout);
    } catch (error) {
      logger.log('server.fault', { error, place: 'stop' });
    }
    logger.log('server.stop', {
      reason: reason.name,
      exit_code: exitCode,
      duration_ms: Math.round(performance.now() - now),
    });
    await logger.close();
    proc.exit(exitCode);
  };
  const onInternalError = (location: string) => (error: unknown) => {
    logger.log('server.fault', { error, place: location });
    void stop(failure(location));
  };
  proc.on('SIGTERM', () => void stop(SIGTERM));
  proc.on('SIGINT', () => void stop(SIGINT));
  proc.on('disconnect', () => void stop(DISCONNECT));
  proc.on('uncaughtException', onInternalError('uncaughtException'));
  proc.on('unhandledRejection', onInternalError('unhandledRejection'));

  const starting = start(config, logger, aborted.signal);
  // the parent has ended while our modules were loading
  if (proc.connected === false) void stop(DISCONNECT);
  try {
    const started = await starting;
    if (stoppingSince !== undefined) return; // `stop` stops it
    running = started;
    void running.failed?.then(onInternalError('running'));
  } catch (error) {
    if (stoppingSince !== undefined) return;
    // On a terminal the sentence alone says it.
    if (format === 'json') logger.log('server.fault', { error, place: 'start' });
    proc.stderr.write(`Cannot start ${service}: ${(error as Error).message}\n`);
    await logger.close();
    proc.exit(error instanceof ConfigError ? EXIT_CONFIG : 1);
  }
}

/** The service that an aborted start still returns; undefined when the start fails, as it should, or takes too long. */
async function settled(starting: Promise<Running>, timeout: AbortSignal): Promise<Running | undefined> {
  const late = new Promise<undefined>((resolve) => {
    timeout.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  return await Promise.race([starting.catch(() => undefined), late]);
}

/**
 * The secrets of a configuration.
 *
 * @returns `keys`, keys and tokens, which no stored, shown or exported result or configuration of a run holds; `all`, with
 * secrets for logs and errors alone: a database's password cannot reach a result, but may be a word
 */
export function secretsOf(config: Config) {
  const databases = [config.databaseUrl, config.databaseDirectUrl].flatMap((url) =>
    url === undefined ? [] : [url.reveal()],
  );
  const keys = [
    ...[...config.apiKeys, ...(config.apiKeysFile?.keys ?? [])].map(({ key }) => key),
    ...Object.values(config.providerKeys).map(({ key }) => key),
    ...[config.metricsKey, config.hubToken, config.jobKey].filter((key) => key !== undefined),
  ].map((key) => key.reveal());
  const passwords = databases.map((url) => URL.parse(url)?.password ?? '').filter((text) => text !== '');
  return { keys, all: [...keys, ...databases, ...passwords.map(decodeURIComponent)] };
}

/** The settings that are not the defaults, by the names of their variables; of secrets only that they are set. */
export function settingsOf(config: Config): Record<string, unknown> {
  const defaults = loadConfig({});
  const settings: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(config)) {
    const text = JSON.stringify(value);
    if (text === JSON.stringify(defaults[key as keyof Config])) continue;
    settings[VARIABLES[key as keyof typeof VARIABLES]?.name ?? key] = JSON.parse(text);
  }
  return settings;
}

/** How much the heap may grow beyond its live part before it is collected, in percent of that part. */
const HEAP_GROWING_PERCENT = 100;

/**
 * Has V8 collect garbage less often. An import streams gigabytes through buffers, and V8 counts their bytes as growth
 * of the heap. By default it would allow the heap to grow by some megabytes only, and look through some thirty
 * megabytes, all alive, a hundred times in a few seconds: half of the work of an import. If V8 does not know the flag,
 * it says so on standard error and continues.
 *
 * @see https://nodejs.org/api/v8.html#v8setflagsfromstringflags
 */
export function configureHeap(): void {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
}

/** Whether there is a process of this id on this machine. */
export function isProcessAlive(kill: (pid: number, signal: 0) => boolean, pid: number): boolean {
  try {
    return kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
