import { createLogger, type Logger } from '@svc/observability';
import { ConfigError, EXIT_CONFIG } from '../config/config-error.ts';
import { type Config, loadConfig } from '../config/load-config.ts';

/** A started part of the service. */
export interface Running {
  /** Stops accepting, ends what runs (rolled back when `signal` aborts first), and frees everything. */
  stop(signal: AbortSignal): Promise<void>;
  /** Settles when something without which the service is of no use has ended by itself: the service then ends too. */
  readonly failed?: Promise<Error>;
  /** Frees at once what would outlive this process. Synchronous: the process exits right after. */
  kill(): void;
}

/**
 * Starts a service. Where `signal` aborts before it has started, it frees what it has and throws; what it returns
 * nevertheless is stopped.
 */
export type StartService = (config: Config, logger: Logger, signal: AbortSignal) => Promise<Running>;

/** The parts of `process` that a service touches; `main.ts` hands them over. */
export type ProcessHandle = Pick<NodeJS.Process, 'env' | 'on' | 'exit' | 'stderr' | 'connected'>;

/** Why a process stops. */
interface Reason {
  readonly name: string;
  /** exit code of a process that has started */
  readonly exitCode: number;
  /** exit code of one that has not: a shell's for a process that a signal has ended */
  readonly exitCodeOfStart: number;
}

const SIGTERM: Reason = { name: 'SIGTERM', exitCode: 0, exitCodeOfStart: 143 };
const SIGINT: Reason = { name: 'SIGINT', exitCode: 0, exitCodeOfStart: 130 };
/** The process that started this one with a channel (IPC) to it is gone; nobody could stop this one any more. */
const DISCONNECT: Reason = { name: 'disconnect', exitCode: 0, exitCodeOfStart: 1 };
const fault = (name: string): Reason => ({ name, exitCode: 1, exitCodeOfStart: 1 });

/** Signals that arrive together (from the terminal and again from npm) are one wish to stop. */
const SAME_SIGNAL_MS = 300;

/**
 * Runs a service from its environment to its last log line: reads the configuration, starts, and at SIGTERM, at SIGINT
 * or when the process is gone that started it with a channel to it, drains within `SVC_DRAIN_TIMEOUT_MS`; a second
 * signal ends the process at once. Exit codes: 0 stopped, 1 could not start or was ended by a fault or a second signal,
 * 78 wrong configuration, 130 and 143 stopped by SIGINT or SIGTERM before it had started.
 */
export async function runProcess(
  service: 'svc-api' | 'svc-worker' | 'svc-standalone',
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
  const logger = createLogger({
    service,
    level: config.logLevel,
    secrets: secretsOf(config),
  });
  logger.log('config.loaded', { settings: settingsOf(config) });

  const aborted = new AbortController();
  let running: Running | undefined;
  let stoppingSince: number | undefined;
  const stop = async (reason: Reason): Promise<void> => {
    const now = performance.now();
    if (stoppingSince !== undefined) {
      if (now - stoppingSince < SAME_SIGNAL_MS) return;
      running?.kill();
      proc.exit(1);
      return;
    }
    stoppingSince = now;
    const exitCode = running === undefined ? reason.exitCodeOfStart : reason.exitCode;
    logger.log('server.drain', { reason: reason.name, timeout_ms: config.drainTimeoutMs });
    const timeout = AbortSignal.timeout(config.drainTimeoutMs);
    try {
      aborted.abort(new Error(`The start was ended by ${reason.name}.`));
      await (running ?? (await settled(starting, timeout)))?.stop(timeout);
    } catch (error) {
      logger.log('server.fault', { error, place: 'stop' });
      running?.kill();
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
    void stop(fault(location));
  };
  proc.on('SIGTERM', () => void stop(SIGTERM));
  proc.on('SIGINT', () => void stop(SIGINT));
  proc.on('disconnect', () => void stop(DISCONNECT));
  proc.on('uncaughtException', onInternalError('uncaughtException'));
  proc.on('unhandledRejection', onInternalError('unhandledRejection'));

  const starting = start(config, logger, aborted.signal);
  // gone while our modules were loaded
  if (proc.connected === false) void stop(DISCONNECT);
  try {
    const started = await starting;
    if (stoppingSince !== undefined) return; // and is being stopped
    running = started;
    void running.failed?.then(onInternalError('running'));
  } catch (error) {
    if (stoppingSince !== undefined) return;
    logger.log('server.fault', { error, place: 'start' });
    proc.stderr.write(`${service} could not start: ${(error as Error).message}\n`);
    await logger.close();
    proc.exit(error instanceof ConfigError ? EXIT_CONFIG : 1);
  }
}

/** What a start that is being aborted has made all the same; nothing when it has failed, as it should, or takes too long. */
async function settled(starting: Promise<Running>, timeout: AbortSignal): Promise<Running | undefined> {
  const late = new Promise<undefined>((resolve) => {
    timeout.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  return await Promise.race([starting.catch(() => undefined), late]);
}

/** Every secret of the configuration, for the logger to blot out wherever it turns up. */
export function secretsOf(config: Config): string[] {
  const password = URL.parse(config.databaseUrl?.reveal() ?? '')?.password;
  return [
    ...config.apiKeys.map(({ key }) => key.reveal()),
    ...Object.values(config.providerKeys).map(({ key }) => key.reveal()),
    ...[config.metricsKey, config.hubToken, config.jobKey, config.databaseUrl].flatMap((secret) =>
      secret === undefined ? [] : [secret.reveal()],
    ),
    ...(password === undefined || password === '' ? [] : [decodeURIComponent(password)]),
  ];
}

function settingsOf(config: Config): Record<string, unknown> {
  return JSON.parse(JSON.stringify(config)) as Record<string, unknown>;
}
