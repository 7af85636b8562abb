import type { Run } from '@svc/client';
import type { JsonObject } from '@svc/jsonl-v23/json';
import { type Cli, given } from '../../cli-context.ts';
import { CliError, EXIT, usageError } from '../../errors/cli-error.ts';
import type { Verdict } from '../../evaluation.ts';
import {
  type Baseline,
  type ComparisonQuery,
  findBaseline,
  gateName,
  readSpread,
} from '../../gate/baseline.ts';
import { compareGate, itemsOf } from '../../gate/compare-gate.ts';
import {
  type GateReport,
  gateText,
  githubAnnotations,
  junitReport,
  markdownSummary,
  verdictLine,
} from '../../gate/gate-report.ts';
import { planGate, pointsOf, sightOf, sightText } from '../../gate/sight.ts';
import { createOutputFile, type OutputFile } from '../../output/output-file.ts';
import { factsResult, printNote, printReport, printResult, writeText } from '../../output/print.ts';
import {
  checkCompleted,
  checkRun,
  planRun,
  readRun,
  repetitionsOf,
  runRequest,
  startRun,
  trackRun,
} from '../../service/follow-run.ts';
import { findVersion, readDataset, runParams, VERSION_ARGUMENT } from '../../service/references.ts';
import { readRunConfig } from '../../service/run-config.ts';
import type { ServiceClient } from '../../service/service-client.ts';
import { countOf, reportText } from '../../text/format.ts';
import {
  choice,
  count,
  flag,
  mandatory,
  number,
  operation,
  text,
  type Values,
  withDefault,
} from '../define-operation.ts';
import { maxFailed } from './run.ts';

const baseline = () =>
  mandatory(
    text('--baseline <run>', 'id of a run, or a label: the newest completed run of the dataset that has it'),
  );

const power = () =>
  withDefault(number('--power <chance>', 'the chance to see such a drop', { min: 0.5, max: 0.999 }), 0.8);

const OPTIONS = {
  config: text(
    '--config <file>',
    'JSON file with the configuration, - for standard input; needed without --run',
  ),
  baseline: baseline(),
  maxDrop: mandatory(
    number('--max-drop <score>', 'the drop of the score that is allowed, such as 0.02 for two points', {
      min: 0,
      max: 1,
    }),
  ),
  scorer: text('--scorer <name>', 'the scorer that decides (default: the main one)'),
  minLabels: count(
    '--min-labels <count>',
    'end with 12 if people have judged fewer results of the run',
    1,
    999_999_999,
  ),
  junit: text('--junit <file>', 'write the verdicts as JUnit XML, in place of an older file'),
  summary: text('--summary <file>', 'write a summary in Markdown, in place of an older file'),
  undecided: choice('--undecided <outcome>', 'let the gate pass (0) or fail (10) where it is undecided', [
    'pass',
    'fail',
  ]),
  power: power(),
  maxFailed: maxFailed(),
  seal: flag(
    '--seal',
    'store baseline and drop as the bar of the run before it starts, so that nobody can move them',
  ),
  run: text('--run <id>', 'continue with this run, which an interrupted gate has started'),
};

type Options = Values<typeof OPTIONS>;

export const gate = operation({
  summary: 'run a dataset, and tell whether it got worse',
  description:
    'Runs a dataset, compares the run with a baseline item by item, and ends with a verdict: not worse (exit code 0) if the ' +
    '95 % interval of the difference is above the allowed drop, worse (10) if it is below, else undecided (11).',
  arguments: { dataset: ['<dataset>', VERSION_ARGUMENT] },
  options: OPTIONS,
  examples: [
    'svc-pkg gate GSM8K --config run.json --baseline baseline --max-drop 0.02',
    'svc-pkg gate GSM8K --config run.json --baseline 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d --max-drop 0.02 \\\n' +
      '      --junit gate.xml --summary gate.md --undecided pass',
    'svc-pkg gate GSM8K --run 7e0f6c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d --baseline baseline --max-drop 0.02',
  ],
  async run({ dataset, ...options }, cli, open) {
    if ((options.config === undefined) === (options.run === undefined)) {
      throw usageError('Give either --config, to start a run, or --run, to continue with one');
    }
    if (options.seal === true && options.run !== undefined) {
      throw usageError('Give --seal with --config: the bar of a run is sealed before it starts');
    }
    await using junit = await reportFile(options.junit);
    await using summary = await reportFile(options.summary);
    const report = await runGate(cli, await open(), dataset, options);
    await save(junit, () => junitReport(report));
    await save(summary, () => markdownSummary(report));
    await print(cli, report);
    cli.endWith(report.exit_code);
  },
});

async function runGate(
  cli: Cli,
  service: ServiceClient,
  reference: string,
  options: Options,
): Promise<GateReport> {
  const { maxDrop, maxFailed, scorer } = options;
  const found = await findVersion(service, reference);
  const earlier = options.run === undefined ? undefined : (await readRun(service, options.run)).value;
  if (earlier !== undefined && earlier.dataset_id !== found.id) {
    throw usageError(`Run ${earlier.id} is of another dataset`);
  }
  const config = earlier?.config ?? (await readRunConfig(cli, given({ config: options.config })));
  const baseline = await findBaseline(service, options.baseline, found.id, earlier?.id);
  const query = queryOf(scorer, config, baseline.run);
  const drop = { baseline: baseline.run.id, max_drop: maxDrop, ...given({ scorer: query.scorer }) };
  const bar = options.seal === true ? { metric: 'mean' as const, ...drop } : undefined;
  const body = { ...runRequest(found, config, gateName(baseline.run)), ...given({ bar }) };
  const request = { body, file: options.config };
  const items = earlier === undefined ? (await planRun(service, request)).value.plan.items : itemsOf(earlier);
  const spread = await readSpread(service, baseline.run, query);
  const sight = spread && sightOf(spread, { items, drop: maxDrop, power: options.power });
  await printNote(cli, sightText(sight, baseline.run.id, maxDrop));

  const run = earlier ?? (await startRun(cli, service, request)).value;
  await printNote(cli, `Run ${run.id}${earlier === undefined ? ' is queued' : ''}`);
  try {
    const ended = (await trackRun(cli, service, run)).value;
    checkCompleted(ended);
    await checkRun(service, ended, { maxFailed });
    const compared = await compareGate(service, { baseline, run: ended }, { maxDrop, query });
    const labels = await checkLabels(service, ended, query, options.minLabels);
    const { verdict, reason, cases, warnings, configDifferences } = compared;
    const outcome = { verdict, reason, ...outcomeOf(verdict, options.undecided) };
    const { fails, ...decided } = labels && labels.found < labels.required ? tooFewLabels(labels) : outcome;
    return {
      ...{ ...decided, max_drop: maxDrop },
      ...{ baseline: runOf(baseline.run, baseline.label), run: runOf(ended), ...given({ labels }) },
      ...(ended.verdict && { sealed: { hash: String(ended.bar_hash), ...ended.verdict } }),
      ...{ sight, cases, warnings },
      about: {
        ...{ dataset: reportText(reference), startedAt: ended.created_at, fails, configDifferences },
        durationMs: Date.parse(ended.finished_at ?? ended.created_at) - Date.parse(ended.created_at),
      },
    };
  } catch (error) {
    throw withRun(cli, error, { reference, baseline, run, maxDrop });
  }
}

/** Before the run, because a refused one is paid for. @throws CliError `usage` for a scorer that one of them lacks */
function queryOf(
  scorer: string | undefined,
  config: JsonObject | Run['config'],
  baseline: Run,
): ComparisonQuery {
  const { scorers, provider } = config;
  const stated: readonly unknown[] = Array.isArray(scorers) ? scorers : [];
  const names = stated.map((one) => (one as { readonly name?: unknown } | null)?.name);
  const isMain = scorer === 'main' && names.length === 0;
  const isOutside = (provider as { readonly type?: unknown } | undefined)?.type === 'external';
  if (scorer !== undefined && !isMain && !isOutside && !names.includes(scorer)) {
    const known = names.join(', ') || 'main';
    throw usageError(`--scorer must be a scorer of the configuration (${known}), got ${scorer}`);
  }
  const clusterBy = config['cluster_by'] ?? baseline.config['cluster_by'];
  return {
    ...(scorer !== undefined && !isMain && { scorer }),
    ...(typeof clusterBy === 'string' && { clusterBy }),
  };
}

function outcomeOf(verdict: Verdict, undecided: Options['undecided']): { exit_code: number; fails: boolean } {
  if (verdict === 'not_worse') return { exit_code: EXIT.done, fails: false };
  if (verdict === 'worse' || undecided === 'fail') return { exit_code: EXIT.worse, fails: true };
  return { exit_code: undecided === 'pass' ? EXIT.done : EXIT.undecided, fails: false };
}

/** Whether people have judged enough results; undefined if it is not asked for. */
async function checkLabels(
  service: ServiceClient,
  { id }: Run,
  { scorer }: ComparisonQuery,
  required: number | undefined,
): Promise<GateReport['labels']> {
  if (required === undefined) return undefined;
  const params = { ...runParams(id), query: { ...given({ scorer }), limit: 1 } };
  const { value } = await service.read(service.api.GET('/runs/{id}/agreement', { params }));
  return { required, found: value.n, agreement: value.agreement, kappa: value.kappa };
}

/** The outcome of a gate whose scorer too few people have checked, whatever the interval. */
const tooFewLabels = ({ found, required }: NonNullable<GateReport['labels']>) => ({
  verdict: 'undecided' as const,
  reason: `Too few labels: people have judged ${found} of the ${required} results that --min-labels requires.`,
  exit_code: EXIT.tooFew,
  fails: false,
});

const runOf = ({ id, dataset_id, dataset_version, run_hash }: Run, label?: string) => ({
  ...{ id, dataset_id, dataset_version, run_hash },
  ...given({ label }),
});

/** An error after the start of a run says how to continue with it. */
function withRun(
  cli: Cli,
  error: unknown,
  { reference, baseline, run, maxDrop }: { reference: string; baseline: Baseline; run: Run; maxDrop: number },
): unknown {
  const again = `svc-pkg gate ${JSON.stringify(reference)} --run ${run.id} --baseline ${baseline.run.id} --max-drop ${maxDrop}`;
  const reason: unknown = cli.signal.aborted ? cli.signal.reason : error;
  if (!(reason instanceof CliError)) return reason;
  const { code, message, errors, location } = reason;
  switch (code) {
    case 'interrupted':
    case 'terminated':
      return new CliError(code, `${message}: run ${run.id} continues in the service`, {
        hint: `To continue: ${again}`,
      });
    case 'items_failed': {
      const hint = `To run them again: svc-pkg retry ${run.id}. Then: ${again}`;
      return new CliError(code, message, { errors, location, hint });
    }
    case 'connection_lost':
    case 'service_unreachable':
      return new CliError(code, `${message}; run ${run.id}`, { hint: `To continue: ${again}` });
    default:
      return reason;
  }
}

/** A file for a report, opened before the run, so that it does not fail after it. @throws CliError `io_error` */
const reportFile = async (path: string | undefined): Promise<OutputFile | null> =>
  path === undefined ? null : await createOutputFile(path, { force: true });

async function save(file: OutputFile | null, textOf: () => string): Promise<void> {
  await file?.write(Buffer.from(textOf()));
  await file?.commit();
}

/** For people, for machines, and for GitHub if it runs the command. */
async function print(cli: Cli, report: GateReport): Promise<void> {
  const { about: _, ...document } = report;
  await printReport(cli, { text: () => gateText(report), json: () => JSON.stringify(document) });
  if (cli.json) return;
  if (cli.quiet && report.exit_code !== EXIT.done) await writeText(cli.stderr, verdictLine(report));
  if ((cli.env['GITHUB_ACTIONS'] ?? '') !== '') await writeText(cli.stdout, githubAnnotations(report));
}

export const plan = operation({
  summary: 'tell how many items a gate needs to see a drop',
  description:
    'Tells how many items of a dataset a gate needs, and how often it must run each, to see a drop of the score: from the ' +
    'variance of a baseline, and its correlation with the run that a gate compared with it last (else 0.5). Ends with 12 ' +
    'where all items and 100 repetitions do not see it.',
  arguments: { dataset: ['<dataset>', VERSION_ARGUMENT] },
  options: {
    baseline: baseline(),
    detect: mandatory(
      number('--detect <score>', 'the drop to see, such as 0.02 for two points', { min: 0.0001, max: 1 }),
    ),
    power: power(),
    scorer: text('--scorer <name>', 'the scorer that decides (default: the main one)'),
  },
  examples: [
    'svc-pkg plan GSM8K --baseline baseline --detect 0.02',
    'svc-pkg plan GSM8K --baseline baseline --detect 0.01 --power 0.9 --json',
  ],
  async run({ dataset, baseline: reference, detect, power, ...query }, cli, open) {
    const service = await open();
    const version = await findVersion(service, dataset);
    const { value: found } = await readDataset(service, version);
    const { run } = await findBaseline(service, reference, version.id);
    const spread = await readSpread(service, run, query);
    if (spread === null || found.item_count === 0) {
      const why =
        'are all equal and neither 0 nor 1, or there are fewer than two: no number of items follows';
      throw new CliError('nothing_to_plan', `The scores of run ${run.id} ${why}`);
    }
    const repetitions = repetitionsOf(run);
    const plan = planGate(spread, { available: found.item_count, repetitions, detect, power });
    const sight = sightOf(spread, { items: found.item_count, drop: detect, power });
    const facts = [
      ['items', plan.items],
      ['repetitions', plan.repetitions],
      ['detectable', pointsOf(plan.detectable)],
      ['all items', sightText(sight, run.id, detect)],
    ] as const;
    const document = { ...plan, ...(spread.variance_assumed && { variance_assumed: true }) };
    await printResult(cli, factsResult(facts, document));
    // Rounded like the number of items.
    if (plan.detectable <= detect * (1 + 1e-6)) return;
    const seen = `${countOf(plan.items, 'item')} and ${plan.repetitions} repetitions`;
    const message = `A drop of ${pointsOf(detect)} cannot be seen with ${seen}: they see one of ${pointsOf(plan.detectable)}`;
    throw new CliError('not_detectable', message);
  },
});
