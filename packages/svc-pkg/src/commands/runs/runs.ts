import { type Job, type PageQuery, REQUEST_VALUES, type ResponseOf, type Run } from '@svc/client';
import { given } from '../../cli-context.ts';
import { ServiceError } from '../../errors/cli-error.ts';
import { eachPath, factsResult, printListing, printReport, printResult } from '../../output/print.ts';
import { findDataset, runParams } from '../../service/references.ts';
import type { JsonResponse, ServiceClient } from '../../service/service-client.ts';
import { formatFacts, intervalText, printableValue, rounded } from '../../text/format.ts';
import { choice, limit, operation, text } from '../define-operation.ts';

const RUNS = REQUEST_VALUES['/runs'];
const COMPARE = REQUEST_VALUES['/runs/{id}/compare/{other_id}'];

export const runs = operation({
  summary: 'list the runs of a service',
  description: 'Lists the runs of a service, newest first or in another order.',
  options: {
    dataset: text(
      '--dataset <dataset>',
      'only runs of this dataset: its id or handle, or its name if it is unique',
    ),
    status: choice('--status <status>', 'only runs with this status', RUNS.status),
    label: text('--label <label>', 'only runs with this label'),
    model: text('--model <name>', 'only runs that ask this model'),
    sort: choice('--sort <order>', 'order, descending after -', RUNS.sort),
    limit: limit(),
  },
  examples: [
    'svc-pkg runs --dataset GSM8K',
    'svc-pkg runs --status failed --json',
    'svc-pkg runs --label baseline --sort=-score',
  ],
  async run({ dataset, limit, ...filters }, cli, open) {
    const service = await open();
    const id = dataset === undefined ? undefined : await findDataset(service, dataset);
    const query = { ...filters, ...given({ dataset_id: id }) };
    const read = (page: PageQuery) => service.api.GET('/runs', { params: { query: { ...query, ...page } } });
    await printListing(cli, limit, read, {
      id: ({ id }) => id,
      name: ({ name }) => name,
      version: (run) => run.dataset_version,
      status: ({ status }) => status,
      done: ({ counts }) => `${counts.done}/${counts.total}`,
      mean: ({ scores }) => rounded(scores.mean),
      created: (run) => run.created_at,
    });
  },
});

export const cancel = operation({
  summary: 'cancel runs and jobs',
  description:
    'Cancels runs and background jobs. A run keeps its results so far; a job stores nothing. A run that has ended is an ' +
    'error; a job that has ended stays as it is.',
  arguments: { ids: ['<ids...>', 'ids of runs or jobs'] },
  examples: ['svc-pkg cancel 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d'],
  async run({ ids }, cli, open) {
    const service = await open();
    await eachPath(cli, ids, async (out, id) => {
      const [kind, { value, text }] = await cancelOne(service, id);
      const facts = [
        [kind, value.id],
        ['status', value.status],
      ] as const;
      await printReport(out, factsResult(facts, text));
    });
  },
});

/** Ids do not say what they belong to. */
async function cancelOne(
  service: ServiceClient,
  id: string,
): Promise<['run' | 'job', JsonResponse<Run | Job>]> {
  const params = runParams(id);
  try {
    return ['run', await service.read(service.api.POST('/runs/{id}/cancel', { params }))];
  } catch (error) {
    if (!(error instanceof ServiceError && error.code === 'run_not_found')) throw error;
    return ['job', await service.read(service.api.POST('/jobs/{id}/cancel', { params }))];
  }
}

export const compare = operation({
  summary: 'compare two runs over their common items',
  description:
    'Compares two runs item by item: the difference of their means (other minus this) with its standard error, and the ' +
    'items in which the other is better or worse. With --json also the items in which they differ.',
  arguments: { run: ['<run>', 'id of a run'], other: ['<other>', 'id of the other run'] },
  options: {
    only: choice('--only <items>', 'list only these items', COMPARE.only),
    pair_by: choice('--pair-by <what>', 'what items of both runs have in common', COMPARE.pair_by),
    limit: limit('how many items to list', 100),
  },
  examples: [
    'svc-pkg compare 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d 7e0f6c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d --only regressions',
  ],
  async run({ run, other, ...query }, cli, open) {
    const { api, read } = await open();
    const path = { ...runParams(run).path, other_id: runParams(other).path.id };
    const { text, value } = await read(api.GET('/runs/{id}/compare/{other_id}', { params: { path, query } }));
    await printResult(cli, { text: () => comparisonText(value), json: () => text });
  },
});

function comparisonText(found: ResponseOf<'/runs/{id}/compare/{other_id}', 'get'>): string {
  if (found.reason !== null) return `${found.reason}\n`;
  return formatFacts([
    ['common items', found.paired],
    ['mean', rounded(found.mean)],
    ['other mean', rounded(found.other_mean)],
    ['difference', rounded(found.mean_difference)],
    ['standard error', rounded(found.stderr)],
    ['95 % interval', intervalText(found.ci95)],
    ['better', found.wins],
    ['worse', found.losses],
    ['equal', found.ties],
    ['p value', rounded(found.p_value)],
    ['verdict', found.verdict && 'undecided: fewer than three common items, or clusters of them'],
    ['changed outputs', found.changed_outputs],
    ['difference in ms', rounded(found.latency_ms.mean_difference)],
    ['difference in cost', rounded(found.cost?.mean_difference ?? null)],
  ]);
}

export const agreement = operation({
  summary: 'compare a scorer of a run with the labels of people',
  description:
    "Compares a scorer with the labels that people gave to the outputs of a run: how often both say the same, Cohen's " +
    'kappa, and how often the scorer passes or fails what people do not. With --json also the results in which they differ.',
  arguments: { run: ['<run>', 'id of a run'] },
  options: {
    scorer: text('--scorer <name>', 'the scorer; the main one by default'),
    by: text('--by <name>', 'only the labels of this person; the newest verdict on each output by default'),
    other: text('--other <name>', 'compare this person, in place of a scorer, with --by'),
    cell: choice(
      '--cell <cell>',
      'list the results of this cell',
      REQUEST_VALUES['/runs/{id}/agreement'].cell,
    ),
    limit: limit('how many results to list', 100),
  },
  examples: [
    'svc-pkg agreement 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d --scorer style',
    'svc-pkg agreement 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d --by Ada --other Ben --json',
  ],
  async run({ run, ...query }, cli, open) {
    const { api, read } = await open();
    const params = { ...runParams(run), query };
    const { text, value } = await read(api.GET('/runs/{id}/agreement', { params }));
    await printResult(cli, { text: () => agreementText(value), json: () => text });
  },
});

function agreementText(found: ResponseOf<'/runs/{id}/agreement', 'get'>): string {
  const { cells } = found;
  return formatFacts([
    ['compared', printableValue(found.other ?? found.scorer ?? '')],
    ['with', found.by === null ? 'the newest verdicts' : printableValue(found.by)],
    ['results', found.n],
    ['both pass', cells.both_pass],
    ['both fail', cells.both_fail],
    ['false passes', cells.false_pass],
    ['false fails', cells.false_fail],
    ['agreement', rounded(found.agreement)],
    ['kappa', rounded(found.kappa)],
    ['95 % interval', intervalText(found.kappa_ci95)],
    ['false pass rate', rounded(found.false_pass_rate)],
    ['95 % interval', intervalText(found.false_pass_rate_ci95)],
    ['false fail rate', rounded(found.false_fail_rate)],
    ['95 % interval', intervalText(found.false_fail_rate_ci95)],
    ['base rate', rounded(found.base_rate)],
  ]);
}
