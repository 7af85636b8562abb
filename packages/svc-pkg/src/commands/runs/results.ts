import { type PageQuery, REQUEST_VALUES } from '@svc/client';
import { isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { LineCutter } from '@svc/jsonl-v23/lines';
import type { Cli } from '../../cli-context.ts';
import { CliError, EXIT } from '../../errors/cli-error.ts';
import { printListing, printReport, RESULT_COLUMNS } from '../../output/print.ts';
import { showProgress } from '../../output/progress.ts';
import { readBytes } from '../../package/input-file.ts';
import { downloadTable, fileOutput, formatOf, tableOutput } from '../../service/download.ts';
import { runParams, runPath } from '../../service/references.ts';
import { repeatLost, type ServiceClient } from '../../service/service-client.ts';
import { formatFacts, printableValue, rounded } from '../../text/format.ts';
import { choice, count, flag, force, limit, number, operation, parsed, text } from '../define-operation.ts';

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
    const read = (page: PageQuery) =>
      api.GET('/runs/{id}/results', { params: { path, query: { ...filters, ...page } } });
    await printListing(cli, limit, read, {
      ...RESULT_COLUMNS,
      status: ({ status }) => status,
      score: ({ score, scores }) =>
        rounded(scorer === undefined ? score : (scores?.[scorer]?.score ?? score)),
      latency_ms: ({ latency_ms }) => latency_ms,
    });
  },
});

/** Bytes of one request. A lost connection makes the command send it again. */
const BATCH_BYTES = 4 * 1024 * 1024;
const MAX_NAMED = 100;

interface Pushed {
  accepted: number;
  replaced: number;
  redacted: number;
  readonly rejected: { readonly line: number; readonly message: string }[];
  rejected_total: number;
}

const push = operation({
  summary: 'send results that were made elsewhere',
  description:
    'Sends results to a run with the provider "external": one JSON object per line, see docs/runs.md. What is sent ' +
    'twice is stored once. Ends with 1 if lines were rejected, and names the first 100 of them.',
  arguments: { run: ['<run>', 'id of the run'], file: ['<file>', 'JSON Lines, - for standard input'] },
  options: {
    finish: flag('--finish', 'end the run afterwards, if no line was rejected'),
    allowMissing: flag('--allow-missing', 'with --finish, end it although results are missing'),
  },
  examples: [
    'svc-pkg results push 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d done.jsonl --finish',
    './my-agent | svc-pkg results push 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d -',
  ],
  async run({ run, file, finish, allowMissing = false }, cli, open) {
    const service = await open();
    const pushed = await pushFile(cli, service, run, file);
    const rejected = pushed.rejected_total;
    if (finish === true && rejected === 0) {
      const request = { params: runParams(run), body: { allow_missing: allowMissing } };
      await service.read(service.api.POST('/runs/{id}/finish', request));
    }
    await printReport(cli, { text: () => textOf(pushed), json: () => JSON.stringify(pushed) });
    if (rejected > 0) cli.endWith(EXIT.failed);
  },
});

/** Sends a file in requests of some MiB, each again if its connection is lost: the service stores each result once. */
async function pushFile(cli: Cli, service: ServiceClient, run: string, file: string): Promise<Pushed> {
  const pushed: Pushed = { accepted: 0, replaced: 0, redacted: 0, rejected: [], rejected_total: 0 };
  using progress = showProgress(cli, 'sending');
  let bytes = 0;
  const cutter = new LineCutter({ batchBytes: BATCH_BYTES });
  for await (const batch of cutter.batches(readBytes(cli, file))) {
    if ('fault' in batch) {
      pushed.rejected_total += 1;
      if (pushed.rejected.length < MAX_NAMED) {
        pushed.rejected.push({ line: batch.line, message: `The line ${batch.fault}.` });
      }
      continue;
    }
    const { value } = await repeatLost(cli, () => service.read(pushLines(service, run, batch.bytes)));
    add(pushed, value as JsonValue, batch.firstLine - 1);
    bytes += batch.bytes.byteLength;
    progress.update(bytes, null);
  }
  return pushed;
}

function pushLines({ api }: ServiceClient, run: string, lines: Uint8Array) {
  return api.POST('/runs/{id}/results', {
    params: runParams(run),
    // With a length, the bytes are sent as they are.
    headers: { 'content-type': 'application/jsonl', 'content-length': String(lines.byteLength) },
    body: lines as never,
    bodySerializer: (bytes) => bytes,
  });
}

/** Adds what the service says of a request. @param linesBefore lines of the file that earlier requests had */
function add(pushed: Pushed, response: JsonValue, linesBefore: number): void {
  const { accepted, replaced, redacted, rejected_total, rejected } = isJsonObject(response) ? response : {};
  if (typeof accepted !== 'number' || typeof replaced !== 'number' || typeof rejected_total !== 'number') {
    throw new CliError('bad_response', 'The service returned something other than the outcome of the lines');
  }
  pushed.accepted += accepted;
  pushed.replaced += replaced;
  pushed.redacted += typeof redacted === 'number' ? redacted : 0;
  pushed.rejected_total += rejected_total;
  for (const one of Array.isArray(rejected) ? rejected : []) {
    if (!isJsonObject(one) || pushed.rejected.length >= MAX_NAMED) continue;
    pushed.rejected.push({ line: linesBefore + Number(one['line']), message: String(one['message']) });
  }
}

function textOf({ accepted, replaced, redacted, rejected, rejected_total }: Pushed): string {
  const lines = rejected.map(({ line, message }) => `line ${line}: ${printableValue(message)}\n`).join('');
  const facts: [string, number][] = [
    ['accepted', accepted],
    ['replaced', replaced],
    ...(redacted > 0 ? [['redacted', redacted] as [string, number]] : []),
    ['rejected', rejected_total],
  ];
  return `${formatFacts(facts)}${lines}`;
}

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
    const read = (page: PageQuery) =>
      service.api.GET('/runs/{id}/labels', { params: { path, query: { ...filters, ...page } } });
    await printListing(cli, limit, read, {
      ...RESULT_COLUMNS,
      by: (label) => label.by,
      verdict: (label) => label.verdict,
      types: ({ types }) => types.join(', '),
      note: ({ note }) => note,
    });
  },
});
