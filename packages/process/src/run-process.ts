import { createLogger, type Logger } from '@svc/observability';
import { ConfigError, EXIT_CONFIG } from './config-error.ts';
import { type Config, loadConfig } from './load-config.ts';
import { providerSecrets } from './provider-environment.ts';

/** A started part of the service. */
export interface Running {
  /** Stops accepting, ends what runs (rolled back when `signal` aborts first), and frees everything. */
  stop(signal: AbortSignal): Promise<void>;
  /** Settles when something without which the service is of no use has ended by itself: the service then ends too. */
  readonly failed?: Promise<Error>;
  /** Frees at once what would outlive this process. Synchronous: the process exits right after. */
  kill(): void;
}

/** The parts of `process` that a service touches; `main.ts` hands them over. */
export type ProcessLike = Pick<NodeJS.Process, 'env' | 'on' | 'exit' | 'stderr'>;

export type StartService = (config: Config, logger: Logger) => Promise<Running>;

/** Signals that arrive together (from the terminal and again from npm) are one wish to stop. */
const SAME_SIGNAL_MS = 300;

/**
 * Runs a service from its environment to its last log line: reads the configuration, starts, and at SIGTERM or
 * SIGINT drains within `SVC_DRAIN_TIMEOUT_MS`; a second signal ends the process at once. Exit codes: 0 stopped,
 * 1 could not start or was ended by a fault or a second signal, 78 wrong configuration.
 */
export async function runProcess(
  service: 'svc-api' | 'svc-worker' | 'svc-standalone',
  proc: ProcessLike,
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
    secrets: [...secretsOf(config), ...providerSecrets(proc.env)],
  });
  logger.log('config.loaded', { settings: settingsOf(config) });

  let running: Running | undefined;
  let stopping: number | undefined;
  const stop = async (reason: string, exitCode: number): Promise<void> => {
    const now = performance.now();
    if (stopping !== undefined) {
      if (now - stopping < SAME_SIGNAL_MS) return;
      running?.kill();
      proc.exit(1);
      return;
    }
    stopping = now;
    logger.log('server.drain', { reason, timeout_ms: config.drainTimeoutMs });
    try {
      await running?.stop(AbortSignal.timeout(config.drainTimeoutMs));
    } catch (error) {
      logger.log('server.fault', { error, place: 'stop' });
      running?.kill();
    }
    logger.log('server.stop', {
      reason,
      exit_code: exitCode,
      duration_ms: Math.round(performance.now() - now),
    });
    await logger.close();
    proc.exit(exitCode);
  };
  proc.on('SIGTERM', () => void stop('SIGTERM', 0));
  proc.on('SIGINT', () => void stop('SIGINT', 0));
  const onFault = (place: string) => (error: unknown) => {
    logger.log('server.fault', { error, place });
    void stop(place, 1);
  };
  proc.on('uncaughtException', onFault('uncaughtException'));
  proc.on('unhandledRejection', onFault('unhandledRejection'));

  try {
    running = await start(config, logger);
    void running.failed?.then(onFault('running'));
  } catch (error) {
    logger.log('server.fault', { error, place: 'start' });
    proc.stderr.write(`${service} could not start: ${(error as Error).message}\n`);
    await logger.close();
    proc.exit(error instanceof ConfigError ? EXIT_CONFIG : 1);
  }
}

/** Every secret of the configuration, for the logger to blot out wherever it turns up. */
export function secretsOf(config: Config): string[] {
  const password = URL.parse(config.databaseUrl?.reveal() ?? '')?.password;
  return [
    ...config.apiKeys.map(({ key }) => key.reveal()),
    ...[config.metricsKey, config.hubToken, config.jobKey, config.databaseUrl].flatMap((secret) =>
      secret === undefined ? [] : [secret.reveal()],
    ),
    ...(password === undefined || password === '' ? [] : [decodeURIComponent(password)]),
  ];
}

function settingsOf(config: Config): Record<string, unknown> {
  return JSON.parse(JSON.stringify(config)) as Record<string, unknown>;
}
