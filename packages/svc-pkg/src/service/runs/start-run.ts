import type { PlannedRun, Run, RunRequest } from '@svc/client';
import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import type { Cli } from '../../cli-context.ts';
import { given } from '../../given.ts';
import { repeatLost } from '../client/repeat-lost.ts';
import type { ServiceClient } from '../client/service-client.ts';
import type { JsonResponse } from '../client/service-request.ts';
import type { FoundVersion } from '../find-dataset.ts';
import { withConfigOptions } from './config-options.ts';

/** A request for a run of a dataset. The service checks the configuration. */
export function runRequest(
  { id, version }: FoundVersion,
  config: JsonObject | Run['config'],
  name: string | undefined,
): RunRequest {
  return { dataset_id: id, config: config as RunRequest['config'], ...given({ name, version }) };
}

/** A request for a run, and where its configuration comes from. */
export interface StatedRun {
  readonly body: RunRequest;
  /** From `configFile`. */
  readonly file: string | undefined;
}

/** Starts a run. A lost connection does not start it twice. @throws as `ServiceClient.send` */
export function startRun(
  cli: Cli,
  service: ServiceClient,
  { body, file }: StatedRun,
): Promise<JsonResponse<Run>> {
  const starting = repeatLost(cli, (key) => {
    const params = { header: { 'Idempotency-Key': key } };
    return service.read(service.api.POST('/runs', { body, bodySerializer: canonicalJson, params }));
  });
  return withConfigOptions(starting, file);
}

/** Says what a run would do. @throws as `ServiceClient.send` */
export function planRun(
  service: ServiceClient,
  { body, file }: StatedRun,
): Promise<JsonResponse<PlannedRun>> {
  const reply = service.api.POST('/runs/plan', { body, bodySerializer: canonicalJson });
  return withConfigOptions(service.read(reply), file);
}
