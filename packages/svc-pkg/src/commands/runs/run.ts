import { REQUEST_VALUES, type ResponseOf, type Run } from '@svc/client';
import { canonicalJson, type JsonValue } from '@svc/jsonl-v23/json';
import { given } from '../../cli-context.ts';
import { printNote, printResult } from '../../output/print.ts';
import { type FinishOptions, finishRun, planRun, runRequest, startRun } from '../../service/follow-run.ts';
import { findVersion, runParams, VERSION_ARGUMENT } from '../../service/references.ts';
import { configFile, readRunConfig, withConfigOptions } from '../../service/run-config.ts';
import { repeatLost } from '../../service/service-client.ts';
import { formatFacts, printableValue } from '../../text/format.ts';
import {
  choice,
  count,
  flag,
  number,
  operation,
  parsed,
  text,
  texts,
  unless,
  withDefault,
} from '../define-operation.ts';

export const maxFailed = () =>
  withDefault(count('--max-failed <count>', 'fail if more items failed', 0, 999_999_999), 0);

const maxCost = () =>
  parsed(
    '--max-cost <amount>',
    'the most that the run may cost, in the currency of its price; it stops before, with exit code 4',
    'It must be a number of at least 0.',
    (text) => {
      const amount = text.trim() === '' ? Number.NaN : Number(text);
      return Number.isFinite(amount) && amount >= 0 ? amount : undefined;
    },
  );

const runLimits = () => ({
  wait: unless('--no-wait', 'end when the run is queued'),
  maxFailed: maxFailed(),
  minScore: number('--min-score <score>', 'fail if the mean score is lower'),
});

export const run = operation({
  summary: 'run a dataset against a model',
  description:
    'Starts a run of a dataset and follows it to its end. The run continues in the service if you interrupt this command.',
  arguments: { dataset: ['<dataset>', VERSION_ARGUMENT] },
  options: {
    config: text('--config <file>', 'JSON file with the configuration, - for standard input'),
    model: text('--model <model>', 'model of a chat-completions API'),
    baseUrl: text('--base-url <url>', 'URL of that API'),
    set: texts(
      '--set <member=value...>',
      'set members of the configuration, such as repetitions=3 or provider.type=echo',
    ),
    reuse: text(
      '--reuse <run>',
      'id of an earlier run, or latest: its outputs are taken where it asked the same, and cost nothing',
    ),
    maxCost: maxCost(),
    name: text('--name <name>', 'name of the run'),
    try: count(
      '--try <items>',
      'ask this many items immediately, show requests and outputs, and store nothing',
      1,
      20,
    ),
    dryRun: flag('--dry-run', 'only validate, and show what would be requested'),
    ...runLimits(),
  },
  examples: [
    'svc-pkg run GSM8K --set provider.type=echo',
    'svc-pkg run GSM8K --model gpt-5 --base-url https://api.openai.com/v1 \\\n' +
      '      --set provider.api_key_env=SVC_PROVIDER_OPENAI',
    'svc-pkg run GSM8K --config run.json --try 3',
    'svc-pkg run GSM8K@3 --config run.json --no-wait',
    'svc-pkg run GSM8K --config run.json --max-failed 5 --min-score 0.8',
    'svc-pkg run GSM8K --config run.json --reuse latest --max-cost 2.50',
  ],
  async run({ dataset, ...options }, cli, open) {
    const config = await readRunConfig(cli, options);
    const service = await open();
    const body = runRequest(await findVersion(service, dataset), config, options.name);
    const file = configFile(options);
    if (options.dryRun) {
      const { text } = await planRun(service, { body, file });
      return await printResult(cli, { text: () => `${text}\n`, json: () => text });
    }
    if (options.try !== undefined) {
      const request = { body, bodySerializer: canonicalJson, params: { query: { items: options.try } } };
      const tried = service.read(service.api.POST('/runs/try', request));
      const { value, text } = await withConfigOptions(tried, file);
      return await printResult(cli, { text: () => triedText(value), json: () => text });
    }
    const started = await startRun(cli, service, { body, file });
    await printNote(cli, startedText(started.value, options));
    await finishRun(cli, service, started, options);
  },
});

/** What a run does from now on, with its id. */
function startedText({ id, status }: Run, { wait }: FinishOptions): string {
  if (status !== 'waiting') return `Run ${id} is ${status}`;
  const sending = `send them with "svc-pkg results push ${id} <file>"`;
  const ending = wait
    ? 'this command waits until all are there. You can interrupt it: the run goes on waiting. --no-wait does not wait'
    : 'nothing waits for them here';
  return `Run ${id} waits for results from outside: ${sending}; ${ending}`;
}

type Tried = ResponseOf<'/runs/try', 'post'>;

function triedText({ data }: Tried): string {
  return data.map(itemText).join('\n');
}

function itemText(tried: Tried['data'][number]): string {
  const { section, order_index, item_id, request, output, scores } = tried;
  const failure = tried.error as { readonly code?: unknown; readonly message?: unknown } | null;
  const id = item_id === null ? '' : ` (${printableValue(String(item_id))})`;
  return formatFacts([
    ['item', `${printableValue(section)} ${order_index}${id}`],
    ['request', request === null ? null : wireText(request)],
    ['output', output == null ? null : typeof output === 'string' ? output : wireText(output)],
    ['error', failure === null ? null : `${failure.message} (${failure.code})`],
    ...Object.entries(scores).map(([name, { score, passed }]): [string, string] => [
      name === 'main' ? 'score' : `score ${name}`,
      `${score ?? 'none'}${passed === true ? ', passed' : ''}`,
    ]),
  ]);
}

const wireText = (value: unknown): string => canonicalJson(value as JsonValue);

export const retry = operation({
  summary: 'run the failed items of a run again',
  description:
    'The same run continues with these items; their old results are replaced when the new ones are written.',
  arguments: { run: ['<run>', 'id of the run'] },
  options: {
    only: withDefault(
      choice('--only <results>', 'which results to replace', REQUEST_VALUES['/runs/{id}/retry'].only),
      'failed',
    ),
    maxCost: maxCost(),
    ...runLimits(),
  },
  examples: [
    'svc-pkg retry 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d --only truncated',
    'svc-pkg retry 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d --only missing --max-cost 5',
  ],
  async run({ run, only, maxCost, ...options }, cli, open) {
    const service = await open();
    const body = { only, ...(maxCost !== undefined && { max_cost: { amount: maxCost } }) };
    const started = await repeatLost(cli, (key) => {
      const request = { params: runParams(run), headers: { 'Idempotency-Key': key }, body };
      return service.read(service.api.POST('/runs/{id}/retry', request));
    });
    await finishRun(cli, service, started, options);
  },
});

export const rescore = operation({
  summary: 'score the outputs of a run again',
  description:
    'Scores the stored outputs of a run with another checker or judge, as a new run, or adds scorers to it. Asks no model but the judge.',
  arguments: { run: ['<run>', 'id of the run'] },
  options: {
    config: text(
      '--config <file>',
      'JSON file with the members checker and judge, or scorers, - for standard input',
    ),
    set: texts('--set <member=value...>', 'set their members, such as checker.type=numeric'),
    name: text('--name <name>', 'name of the new run (default: the name of the old one)'),
    add: flag('--add', 'add the scorers to the same run'),
    ...runLimits(),
  },
  examples: [
    'svc-pkg rescore 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d --set checker.type=numeric',
    'svc-pkg rescore 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d --config judge.json --name "with a judge"',
    'svc-pkg rescore 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d --config scorers.json --add',
  ],
  async run({ run, name, add, ...options }, cli, open) {
    const body = { ...(await readRunConfig(cli, options)), ...given({ name, add }) };
    const service = await open();
    const starting = repeatLost(cli, (key) => {
      const params = { ...runParams(run), header: { 'Idempotency-Key': key } };
      const request = { params, body, bodySerializer: canonicalJson };
      return service.read(service.api.POST('/runs/{id}/rescore', request));
    });
    const started = await withConfigOptions(starting, configFile(options));
    await finishRun(cli, service, started, options);
  },
});
