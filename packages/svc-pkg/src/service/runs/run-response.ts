import { followRun, type Run } from '@svc/client';
import type { Cli } from '../../cli-context.ts';
import { CliError } from '../../errors/cli-error.ts';
import { printReport } from '../../output/print-result.ts';
import { showProgress } from '../../output/progress.ts';
import { formatFacts } from '../../text/format-facts.ts';
import { printableValue } from '../../text/printable-text.ts';
import type { ServiceClient } from '../client/service-client.ts';
import type { JsonResponse } from '../client/service-request.ts';

/**
 * The id of a run as a part of a path.
 *
 * @throws CliError `usage` for one that would be another path
 */
export function runParams(id: string): { readonly path: { readonly id: string } } {
  if (/[^.]/.test(id)) return { path: { id } };
  throw new CliError('usage', `The id of a run must not be ${JSON.stringify(id)}`);
}

/** The path of something of a run. @throws CliError `usage` for an id that would be another path */
export const runPath = (id: string, name: string): string =>
  `/runs/${encodeURIComponent(runParams(id).path.id)}/${name}`;

/**
 * Waits until a run has ended; shows its progress on a terminal. The run continues if this is interrupted.
 *
 * @throws as `ServiceClient.send`; the signal's reason
 */
export async function trackRun(
  cli: Cli,
  service: ServiceClient,
  first: JsonResponse<Run>,
): Promise<JsonResponse<Run>> {
  using progress = showProgress(cli, 'running', 'items');
  const { id } = first.value;
  for await (const { counts } of followRun(service.api, id, { signal: cli.signal })) {
    progress.update(counts.done, counts.total);
  }
  // Its text once more, with every digit.
  return await readRun(service, id);
}

/** Reads a run. @throws CliError `usage`; as `ServiceClient.send` */
export function readRun(service: ServiceClient, id: string): Promise<JsonResponse<Run>> {
  return service.read(service.api.GET('/runs/{id}', { params: runParams(id) }));
}

/** Prints a run, whatever its status: for machines the response as it is, for people the main facts. */
export function printRunFacts(cli: Cli, response: JsonResponse<Run>): Promise<void> {
  return printReport(cli, { text: () => runText(response.value), json: () => response.text });
}

function runText(run: Run): string {
  const { counts, scores } = run;
  return formatFacts([
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
  ]);
}

/** The bounds of an interval. */
export function intervalText(interval: readonly number[] | null | undefined): string | null {
  return interval == null ? null : interval.map((bound) => rounded(bound)).join(' to ');
}

/** Four significant digits are enough for people. */
export function rounded(value: number | null | undefined): number | null {
  return value === null || value === undefined ? null : Number(value.toPrecision(4));
}

/** How often a run asks each item. */
export function repetitionsOf({ config }: Pick<Run, 'config'>): number {
  const stated: unknown = config['repetitions'];
  return typeof stated === 'number' && stated >= 1 ? stated : 1;
}
