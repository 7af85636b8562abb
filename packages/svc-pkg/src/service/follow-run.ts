import { followRun, iteratePages, type PageQuery, type Run, type RunRequest } from '@svc/client';
import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import { type Cli, given } from '../cli-context.ts';
import { CliError, type FieldError } from '../errors/cli-error.ts';
import { factsResult, printHint, printReport } from '../output/print.ts';
import { showProgress } from '../output/progress.ts';
import { type Facts, intervalText, printableValue, rounded } from '../text/format.ts';
import { type FoundVersion, runParams } from './references.ts';
import { withConfigOptions } from './run-config.ts';
import { type JsonResponse, repeatLost, type ServiceClient } from './service-client.ts';

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

/** Starts a run. A lost connection does not start it twice. */
export function startRun(cli: Cli, service: ServiceClient, { body, file }: StatedRun) {
  const starting = repeatLost(cli, (key) => {
    const params = { header: { 'Idempotency-Key': key } };
    return service.read(service.api.POST('/runs', { body, bodySerializer: canonicalJson, params }));
  });
  return withConfigOptions(starting, file);
}

export function planRun(service: ServiceClient, { body, file }: StatedRun) {
  const reply = service.api.POST('/runs/plan', { body, bodySerializer: canonicalJson });
  return withConfigOptions(service.read(reply), file);
}

/** Waits until a run has ended; shows its progress on a terminal. The run continues if this is interrupted. */
export async function trackRun(cli: Cli, service: ServiceClient, { id }: Run): Promise<JsonResponse<Run>> {
  using progress = showProgress(cli, 'running', 'items');
  for await (const { counts } of followRun(service.api, id, { signal: cli.signal })) {
    progress.update(counts.done, counts.total);
  }
  // Its text once more, with every digit.
  return await readRun(service, id);
}

export function readRun(service: ServiceClient, id: string): Promise<JsonResponse<Run>> {
  return service.read(service.api.GET('/runs/{id}', { params: runParams(id) }));
}

/** Prints a run, whatever its status: for machines the response as it is, for people the main facts. */
export function printRunFacts(cli: Cli, { value: run, text }: JsonResponse<Run>): Promise<void> {
  const { counts, scores } = run;
  const facts = (): Facts => [
    ['run', run.id],
    ['name', run.name && printableValue(run.name)],
    ['dataset', run.dataset_id],
    ['version', run.dataset_version],
    ['status', run.status],
    ['done', `${counts.done} of ${counts.total}`],
    ['failed', counts.failed],
    ['unscored', counts.unscored],
    ['mean score', rounded(scores.mean)],
    ['95 % interval', intervalText(scores.ci95)],
    ['passed', scores.pass_rate === null ? null : `${scores.passed} (${rounded(scores.pass_rate * 100)} %)`],
  ];
  return printReport(cli, factsResult(facts, text));
}

export function repetitionsOf({ config }: Pick<Run, 'config'>): number {
  const stated: unknown = config['repetitions'];
  return typeof stated === 'number' && stated >= 1 ? stated : 1;
}

/** How a command ends a run that it has started, and the outcomes with which it succeeds. */
export interface FinishOptions {
  readonly wait: boolean;
  readonly maxFailed: number;
  readonly minScore?: number;
}

/** Waits for a run, if the options do not say otherwise, then prints it, also if it failed, and checks its outcome. */
export async function finishRun(
  cli: Cli,
  service: ServiceClient,
  started: JsonResponse<Run>,
  { wait, ...limits }: FinishOptions,
): Promise<void> {
  const response = wait ? await trackRun(cli, service, started.value) : started;
  const run = response.value;
  await printRunFacts(cli, response);
  checkCompleted(run);
  if (run.status !== 'completed') return;
  await checkRun(service, run, limits);
  await printHint(cli, `Its results: svc-pkg results ${run.id}`);
}

/** @throws CliError `run_failed` for a run that failed or was cancelled, `run_stopped` */
export function checkCompleted(run: Run): void {
  if (run.status === 'failed' || run.status === 'cancelled') {
    const why = run.error?.message === undefined ? '' : `: ${run.error.message}`;
    throw new CliError('run_failed', `Run ${run.id} has the status ${run.status}${why}`);
  }
  if (run.status === 'stopped') {
    const { done, total } = run.counts;
    const message = `The budget of run ${run.id} stopped it after ${done} of ${total} results`;
    const hint = `To continue with a new limit: svc-pkg retry ${run.id} --only missing --max-cost <amount>`;
    throw new CliError('run_stopped', message, { hint });
  }
}

/** @throws CliError `items_failed` with the errors of the items and how often each occurred, `score_too_low` */
export async function checkRun(
  service: ServiceClient,
  { id, counts, scores }: Run,
  { maxFailed, minScore }: Omit<FinishOptions, 'wait'>,
): Promise<void> {
  const { failed, total } = counts;
  // Without any answer there is nothing to tolerate.
  if (failed > maxFailed || (failed > 0 && failed === total)) {
    throw new CliError('items_failed', `${failed} of ${total} items failed`, {
      errors: await errorsOf(service, id),
      hint: `Its results: svc-pkg results ${id}. To run the failed items again: svc-pkg retry ${id}`,
    });
  }
  if (minScore === undefined || (scores.mean !== null && scores.mean >= minScore)) return;
  const mean = scores.mean === null ? 'The run has no score' : `The mean score is ${rounded(scores.mean)}`;
  throw new CliError('score_too_low', `${mean}, and --min-score is ${minScore}`, {
    hint: `Its results: svc-pkg results ${id}`,
  });
}

const MAX_RESULTS = 1000;
const MAX_ERRORS = 10;

/** The errors of a run's items in the order in which each occurs first, with how often it occurs. */
async function errorsOf(service: ServiceClient, id: string): Promise<FieldError[]> {
  const counts = new Map<string, { readonly code: string; readonly message: string; count: number }>();
  const read = (page: PageQuery) =>
    service.api.GET('/runs/{id}/results', {
      params: { ...runParams(id), query: { status: 'failed', ...page } },
    });
  for await (const { data } of iteratePages(read, MAX_RESULTS)) {
    for (const { error } of data) {
      const { code = 'unknown', message = 'The item failed' } = error ?? {};
      const key = `${code} ${message}`;
      const entry = counts.get(key) ?? { code, message, count: 0 };
      entry.count += 1;
      counts.set(key, entry);
    }
  }
  return [...counts.values()].slice(0, MAX_ERRORS);
}
