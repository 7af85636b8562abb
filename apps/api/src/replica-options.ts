import type { Logger, Metrics } from '@svc/instrumentation';
import type { Config } from '@svc/runtime';
import type { ReplicaOptions } from '@svc/store';

/** The replica of the configuration, whose state is logged and whose reads are counted; null without one. */
export function replicaOptions(
  { databaseReadUrl }: Pick<Config, 'databaseReadUrl'>,
  logger: Logger,
  metrics: Pick<Metrics, 'recordRead'>,
): ReplicaOptions | null {
  if (databaseReadUrl === undefined) return null;
  return {
    url: databaseReadUrl.reveal(),
    onChange: (state) => {
      if (state === 'current') logger.log('replica.current');
      else logger.log('replica.lost', { reason: state });
    },
    onRead: (outcome) => metrics.recordRead(outcome),
  };
}
