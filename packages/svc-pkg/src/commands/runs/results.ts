import { REQUEST_VALUES } from '@svc/client';
import { printListing, RESULT_COLUMNS } from '../../output/print.ts';
import { downloadTable, fileOutput, formatOf, tableOutput } from '../../service/download.ts';
import { runParams, runPath } from '../../service/references.ts';
import { rounded } from '../../text/format.ts';
import { choice, count, flag, force, limit, number, operation, parsed, text } from '../define-operation.ts';
import { push } from './push-results.ts';

const RUN = ['<run>', 'id of the run'] as const;

const SORTS = 'order score latency output_tokens cost question expected got tags type label'.split(' ');
const SORT_HELP = `${SORTS.join(', ')}, scorer:<name> or meta.<pointer>`;

/** Whether it may follow `--sort`; the service checks the name of the scorer. */
function isSort(text: string): boolean {
  const key = text.replace(/^-/, '');
  return SORTS.includes(key) || /^(?:scorer:.|meta[.]\/)/.test(key);
}

const list = operation({
  summary: 'list results of a run in any order',
  description: 'Lists results of a run: the best, the slowest, those within bounds of a score.',
  arguments: { run: RUN },
  options: {
    sort: parsed(
      '--sort <order>',
      `${SORT_HELP}, descending after - (default: order)`,
      `It must be ${SORT_HELP}, perhaps after -.`,
      (text) => (isSort(text) ? text : undefined),
    ),
    scorer: text('--scorer <name>', 'whose score is shown and has bounds; the main one by default'),
    min_score: number('--min-score <score>', 'of at least this score'),
    max_score: number('--max-score <score>', 'of at most this score'),
    limit: limit(),
  },
  examples: [
    'svc-pkg results list 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d --sort=-scorer:style --limit 20',
    'svc-pkg results list 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d --max-score 0 --json',
  ],
  async run({ run, limit, ...filters }, cli, open) {
    const { api } = await open();
    const { path } = runParams(run);
    const { scorer } = filters;
    await printListing(
      cli,
      limit,
      (page) => api.GET('/runs/{id}/results', { params: { path, query: { ...filters, ...page } } }),
      {
        ...RESULT_COLUMNS,
        status: ({ status }) => status,
        score: ({ score, scores }) =>
          rounded(scorer === undefined ? score : (scores?.[scorer]?.score ?? score)),
        latency_ms: ({ latency_ms }) => latency_ms,
      },
    );
  },
});

export const results = operation({
  summary: 'write the results of a run as JSON Lines, CSV or Parquet',
  description: 'Writes the results of a run in item order, as far as there are any.',
  arguments: { run: RUN },
  options: tableOutput(),
  commands: { list, push },
  examples: ['svc-pkg results 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d -o results.csv'],
  async run({ run, ...output }, cli, open) {
    const path = runPath(run, `results.${formatOf(output)}`);
    await downloadTable(cli, await open(), { path, ...output });
  },
});

export const pending = operation({
  summary: 'write the results that a run waits for, with their items',
  description:
    'Writes the results that a run with the provider "external" lacks, as JSON Lines with their items. With --claim, ' +
    'they are reserved: no other client can claim them for so long, and each result extends the rest.',
  arguments: { run: RUN },
  options: {
    limit: count('--limit <count>', 'lines at most (default: all; with --claim 100)', 1, 999_999_999),
    claim: count('--claim <seconds>', 'claim them for so long', 1, 86_400),
    answers: flag('--answers', 'with the answers of the items'),
    ...fileOutput(),
  },
  examples: [
    'svc-pkg pending 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d -o todo.jsonl',
    'svc-pkg pending 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d --claim 600 --limit 20 | ./my-agent > done.jsonl',
  ],
  async run({ run, limit, claim, answers, ...output }, cli, open) {
    const path = runPath(run, 'pending');
    const request =
      claim === undefined
        ? { query: { limit: limit?.toString(), answers: answers?.toString() } }
        : { body: JSON.stringify({ limit, claim_seconds: claim, answers }) };
    await downloadTable(cli, await open(), { path, ...output, ...request });
  },
});

export const labels = operation({
  summary: 'list the labels that people gave to the outputs of a run',
  description:
    'Lists the labels that people gave to the outputs of a run, in item order. With --output, it writes all of them as CSV.',
  arguments: { run: RUN },
  options: {
    verdict: choice(
      '--verdict <verdict>',
      'only labels with this verdict',
      REQUEST_VALUES['/runs/{id}/labels'].verdict,
    ),
    by: text('--by <name>', 'only labels of this person'),
    type: text('--type <type>', 'only labels with this type'),
    limit: limit(),
    output: text('-o, --output <path>', 'CSV file to write all of them to; - for standard output'),
    force: force(),
  },
  examples: [
    'svc-pkg labels 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d --verdict fail',
    'svc-pkg labels 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d -o labels.csv',
  ],
  async run({ run, limit, output, force, ...filters }, cli, open) {
    const service = await open();
    const { path } = runParams(run);
    if (output !== undefined) {
      const table = { path: runPath(run, 'labels.csv'), query: filters, output, force };
      return await downloadTable(cli, service, table);
    }
    await printListing(
      cli,
      limit,
      (page) => service.api.GET('/runs/{id}/labels', { params: { path, query: { ...filters, ...page } } }),
      {
        ...RESULT_COLUMNS,
        by: (label) => label.by,
        verdict: (label) => label.verdict,
        types: ({ types }) => types.join(', '),
        note: ({ note }) => note,
      },
    );
  },
});
