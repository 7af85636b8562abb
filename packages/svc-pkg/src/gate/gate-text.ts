import { formatFacts } from '../text/format.ts';
import { pointsText } from '../text/report-text.ts';
import {
  caseText,
  type GateCase,
  type GateReport,
  intervalPoints,
  labelText,
  scoreText,
  sealText,
  VERDICT_TEXTS,
  type WorseItem,
} from './gate-report.ts';

/** The verdict in one line. */
export const verdictLine = ({ verdict, reason }: GateReport): string =>
  `svc-pkg: ${VERDICT_TEXTS[verdict]}: ${reason}\n`;

/** A gate for people. */
export function gateText(report: GateReport): string {
  const [deciding, ...others] = report.cases;
  const interval = deciding?.interval ?? null;
  return formatFacts([
    ['verdict', VERDICT_TEXTS[report.verdict]],
    ['reason', report.reason],
    ['scorer', deciding?.scorer],
    ['common items', deciding?.paired],
    ['mean', deciding && `${scoreText(deciding.baselineMean)} → ${scoreText(deciding.mean)}`],
    ['difference', deciding?.difference == null ? null : `${pointsText(deciding.difference)} points`],
    ['95 % interval', interval && `${intervalPoints(interval)} points`],
    ['allowed drop', `${pointsText(report.maxDrop)} points`],
    ['worse items', deciding?.worseTotal],
    ['judged results', report.labels && labelText(report.labels)],
    ['baseline', `${report.baseline.id}${report.label === undefined ? '' : ` (label ${report.label})`}`],
    ['run', report.run.id],
    ['run hash', report.run.runHash],
    ['sealed bar', sealText(report)],
    ...report.warnings.map((warning) => ['note', warning] as const),
    ...others
      .filter(({ verdict }) => verdict === 'worse')
      .map((one) => ['also worse', `${one.scorer}, ${one.section ?? 'all sections'}`] as const),
  ]);
}

/** A gate for machines. */
export function gateDocument(report: GateReport): Record<string, unknown> {
  const { sight, labels, sealed } = report;
  return {
    verdict: report.verdict,
    reason: report.reason,
    exit_code: report.exitCode,
    max_drop: report.maxDrop,
    baseline: runDocument(report.baseline, report.label),
    run: runDocument(report.run),
    ...(labels && { labels }),
    ...(sealed && { sealed }),
    sight: sight && {
      items: sight.items,
      detectable: sight.detectable,
      needed_items: sight.neededItems,
      power: sight.power,
      variance_assumed: sight.varianceAssumed,
      correlation: sight.correlation,
      measured_with: sight.measuredWith,
    },
    cases: report.cases.map(caseDocument),
    warnings: report.warnings,
  };
}

const runDocument = (
  { id, datasetId, version, runHash }: GateReport['run'],
  label?: string,
): Record<string, unknown> => ({
  id,
  dataset_id: datasetId,
  dataset_version: version,
  run_hash: runHash,
  ...(label !== undefined && { label }),
});

function caseDocument(one: GateCase): Record<string, unknown> {
  return {
    scorer: one.scorer,
    section: one.section,
    decides: one.decides,
    verdict: one.verdict,
    reason: one.reason,
    paired: one.paired,
    baseline_mean: one.baselineMean,
    mean: one.mean,
    mean_difference: one.difference,
    interval: one.interval,
    worse_total: one.worseTotal,
    worse_items: one.worseItems.map(itemDocument),
  };
}

function itemDocument({ texts, ...item }: WorseItem): Record<string, unknown> {
  return {
    section: item.section,
    order_index: item.orderIndex,
    item_id: item.itemId ?? null,
    baseline_score: item.baselineScore,
    score: item.score,
    ...(texts && {
      question: texts.question ?? null,
      expected: texts.expected ?? null,
      baseline_output: texts.baselineOutput ?? null,
      output: texts.output ?? null,
    }),
  };
}

/** GitHub shows ten of a kind for each step. */
const MAX_CASES = 9;

/** A gate as workflow commands of GitHub Actions, one per line: its verdict, and each section that got worse. */
export function githubAnnotations(report: GateReport): string {
  const kind = report.fails ? 'error' : report.verdict === 'undecided' ? 'warning' : 'notice';
  const [deciding, ...others] = report.cases;
  const numbers = deciding === undefined ? '' : ` ${caseText(deciding)}`;
  const worse = others.filter(({ verdict }) => verdict === 'worse').slice(0, MAX_CASES);
  return [
    command(
      kind,
      `Gate of ${report.dataset}: ${VERDICT_TEXTS[report.verdict]}`,
      `${report.reason}${numbers}`,
    ),
    ...worse.map((one) =>
      command('warning', `Worse: ${one.scorer}, ${one.section ?? 'all sections'}`, caseText(one)),
    ),
  ].join('');
}

/** Values escaped as `@actions/core` does it. */
function command(kind: string, title: string, message: string): string {
  return `::${kind} title=${property(title)}::${data(message)}\n`;
}

const data = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');

const property = (text: string): string => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
