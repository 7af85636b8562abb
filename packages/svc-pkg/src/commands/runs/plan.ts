import { CliError } from '../../errors/cli-error.ts';
import { findBaseline, readSpread } from '../../gate/baseline.ts';
import { planGate, pointsOf, sightOf, sightText } from '../../gate/sight.ts';
import { printResult } from '../../output/print.ts';
import { repetitionsOf } from '../../service/follow-run.ts';
import { findVersion, readDataset, VERSION_ARGUMENT } from '../../service/references.ts';
import { countOf, formatFacts } from '../../text/format.ts';
import {
  type Flag,
  mandatory,
  number,
  type Operation,
  operation,
  text,
  withDefault,
} from '../define-operation.ts';

/** The run to compare with. */
export const baseline = (): Flag<string, true> =>
  mandatory(
    text('--baseline <run>', 'id of a run, or a label: the newest completed run of the dataset that has it'),
  );

/** The chance to see a drop. */
export const power = (): Flag<number, true> =>
  withDefault(number('--power <chance>', 'the chance to see such a drop', { min: 0.5, max: 0.999 }), 0.8);

/** How large a gate must be. */
export const plan: Operation = operation({
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
  service: true,
  examples: [
    'svc-pkg plan GSM8K --baseline baseline --detect 0.02',
    'svc-pkg plan GSM8K --baseline baseline --detect 0.01 --power 0.9 --json',
  ],
  async run({ dataset, baseline: reference, detect, power, ...query }, cli, open) {
    const service = await open();
    const version = await findVersion(service, dataset);
    const { value: found } = await readDataset(service, version);
    const request = { reference, datasetId: version.id, exceptRunId: undefined };
    const { run } = await findBaseline(service, request);
    const spread = await readSpread(service, run, query);
    if (spread === null || found.item_count === 0) {
      throw new CliError(
        'nothing_to_plan',
        `The scores of run ${run.id} are all equal and neither 0 nor 1, or there are fewer than two: no number of items follows`,
      );
    }
    const plan = planGate(spread, {
      ...{ available: found.item_count, repetitions: repetitionsOf(run), detect, power },
    });
    const sight = sightOf(spread, { items: found.item_count, drop: detect, power });
    await printResult(cli, {
      json: () => JSON.stringify({ ...plan, ...(spread.variance_assumed && { variance_assumed: true }) }),
      text: () =>
        formatFacts([
          ['items', plan.items],
          ['repetitions', plan.repetitions],
          ['detectable', pointsOf(plan.detectable)],
          ['all items', sightText(sight, run.id, detect)],
        ]),
    });
    // Rounded like the number of items.
    if (plan.detectable <= detect * (1 + 1e-6)) return;
    throw new CliError(
      'not_detectable',
      `A drop of ${pointsOf(detect)} cannot be seen with ${countOf(plan.items, 'item')} and ${plan.repetitions} repetitions: ` +
        `they see one of ${pointsOf(plan.detectable)}`,
    );
  },
});
