import { type DatasetSummary, followJob, type Job, type ResponseOf, type UploadOutcome } from '@svc/client';
import type { Cli } from '../cli-context.ts';
import { CliError, EXIT } from '../errors/cli-error.ts';
import { errorLine } from '../errors/failure.ts';
import { factsResult, printResult, type Result } from '../output/print.ts';
import { showProgress } from '../output/progress.ts';
import { countOf, type Facts, formatFacts, noteFacts, printableValue } from '../text/format.ts';
import { readDataset } from './references.ts';
import { type JsonResponse, parseProblem, type ServiceClient } from './service-client.ts';

export type ChangedDataset = ResponseOf<'/datasets/{id}/restore', 'post', 201>;

/** A dataset: for machines the response as it is, for people the main facts. */
export function datasetResult({ value, text }: JsonResponse<StoredDataset>): Result {
  const { version, asset_count: assets, run_id: run } = value;
  const facts = (): Facts => [
    ...datasetFacts(value, version),
    ['assets', assets],
    ['run', run && `${printableValue(run)}, added to this dataset, which existed`],
    ...noteFacts(value),
  ];
  return factsResult(facts, text);
}

export function changeResult({ status, value, text }: JsonResponse<ChangedDataset>): Result {
  const version = status === 201 ? value.version : `${value.version}, which has this content already`;
  const facts = (): Facts => [
    ...datasetFacts(value, version),
    ['change', countsText(value.change)],
    ...noteFacts(value),
  ];
  return factsResult(facts, text);
}

const datasetFacts = (dataset: StoredDataset | ChangedDataset, version: string | number): Facts => [
  ['dataset', dataset.id],
  ['name', printableValue(dataset.name)],
  ['handle', dataset.handle],
  ['version', version],
  ['version hash', dataset.version_hash],
  ['items', `${dataset.item_count} in ${countOf(dataset.section_count, 'section')}`],
];

/** How a version differs from the one before, such as `2 added, 1 changed`. */
export function countsText(change: ChangedDataset['change']): string {
  const counts = (['added', 'changed', 'removed'] as const).filter((kind) => change[kind] > 0);
  return counts.map((kind) => `${change[kind]} ${kind}`).join(', ') || 'none';
}

export type DryRun = ResponseOf<'/datasets/hub/check', 'post'>;

/** Prints what a request would store; the command fails if rows would make no items. */
export async function printDryRun(cli: Cli, value: DryRun, text: string): Promise<void> {
  await printResult(cli, { json: () => text, text: () => dryRunText(value) });
  if (value.errors_total > 0) cli.endWith(EXIT.failed);
}

function dryRunText(dryRun: DryRun): string {
  const { errors, errors_total: total, item_count, version_hash, change } = dryRun;
  const lines = errors.map(({ message, code = 'invalid_row', ...location }) =>
    errorLine({ location, message, code }),
  );
  if (total > errors.length) lines.push(`... and ${total - errors.length} more`);
  const facts = formatFacts([
    ['stored', 'nothing (dry run)'],
    ['items', item_count],
    ['errors', total],
    ['version hash', version_hash],
    ['change', change && countsText(change)],
    ...noteFacts(dryRun),
  ]);
  return `${lines.map((line) => `${line}\n`).join('')}${facts}`;
}

/** A dataset that was stored, or to which the run of another tool was added. */
export type StoredDataset = DatasetSummary & {
  /** The run that was added; a job does not state it. */
  readonly run_id?: string;
};

/** The dataset of a response that has it, or of a job, which this follows to its end. */
export async function storedDataset(
  cli: Cli,
  service: ServiceClient,
  { job, dataset, text }: UploadOutcome,
): Promise<JsonResponse<StoredDataset>> {
  if (dataset !== undefined) return { status: 201, text, value: dataset };
  const id = await trackJob(cli, service, job);
  return await readDataset(service, { id });
}

/** Waits until a job has ended. @returns the id of the new dataset @throws ServiceError with the error of the job */
async function trackJob(cli: Cli, service: ServiceClient, first: Job): Promise<string> {
  using progress = showProgress(cli, 'importing', 'rows');
  let job = first;
  if (isActive(job)) {
    for await (job of followJob(service.api, first.id, { signal: cli.signal })) {
      progress.update(job.progress?.rows_done ?? 0, job.progress?.rows_total ?? null);
      if (!isActive(job)) break;
    }
  }
  if (job.status === 'succeeded' && typeof job.dataset_id === 'string') return job.dataset_id;
  if (job.status === 'failed' && job.error) throw jobError(job.error);
  throw new CliError('job_ended', `Job ${job.id} ended without a dataset: its status is ${job.status}`);
}

const isActive = ({ status }: Job): boolean => ['queued', 'running', 'cancelling'].includes(status);

/** The error of a job has the same members as the body of a failed request. */
function jobError(error: Readonly<Record<string, unknown>>): Error {
  const status = typeof error['status'] === 'number' ? error['status'] : 500;
  return parseProblem({ status, headers: {}, text: JSON.stringify(error) });
}
