import type { Run } from '@svc/client';
import { CliError } from '../errors/cli-error.ts';
import type { ServiceClient } from '../service/client/service-client.ts';
import { isDatasetId } from '../service/find-dataset.ts';
import { readRun } from '../service/runs/run-response.ts';

/** A run to compare with, and the label that named it. */
export interface Baseline {
  readonly run: Run;
  readonly label: string | undefined;
}

/** A baseline as it is asked for. */
export interface BaselineRequest {
  /** Id of a run, or a label. */
  readonly reference: string;
  /** Labels are of the runs of this dataset. */
  readonly datasetId: string;
  /** The run of the gate, which is not its own baseline. */
  readonly exceptRunId: string | undefined;
}

/**
 * Finds a baseline: a run by its id, or the newest completed run of a dataset with a label.
 *
 * @throws CliError `baseline_not_found`; `baseline_unusable` for a run that has not completed or has no scores; `usage`; as
 *   `ServiceClient.send`
 */
export async function findBaseline(service: ServiceClient, request: BaselineRequest): Promise<Baseline> {
  const { reference, exceptRunId } = request;
  if (reference.trim() === '') throw new CliError('usage', '--baseline must be the id of a run, or a label');
  const isId = isDatasetId(reference);
  if (isId && reference.toLowerCase() === exceptRunId?.toLowerCase()) {
    throw new CliError('usage', '--baseline and --run must be two runs');
  }
  const id = isId ? reference : await newestWith(service, request);
  const { value: run } = await readRun(service, id);
  if (run.status !== 'completed') {
    throw new CliError('baseline_unusable', `The baseline ${id} has the status ${run.status}, not completed`);
  }
  if (run.scores.mean === null) throw new CliError('baseline_unusable', `The baseline ${id} has no scores`);
  return { run, label: isId ? undefined : reference };
}

async function newestWith(
  service: ServiceClient,
  { reference, datasetId, exceptRunId }: BaselineRequest,
): Promise<string> {
  const query = { dataset_id: datasetId, label: reference, status: 'completed', limit: 2 } as const;
  const reply = service.api.GET('/runs', { params: { query: { ...query, sort: '-created_at' } } });
  const labelled = (await service.read(reply)).value.data;
  const found = labelled.find(({ id }) => id !== exceptRunId);
  if (found !== undefined) return found.id;
  const other = labelled.length > 0 ? `other than --run ${exceptRunId} ` : '';
  throw new CliError(
    'baseline_not_found',
    `No completed run of the dataset ${other}has the label ${JSON.stringify(reference)}`,
    { hint: 'To label one: svc-pkg rename --run <id> --label <label>' },
  );
}
