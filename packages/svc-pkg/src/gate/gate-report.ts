import type { Run } from '@svc/client';
import type { Interval, Verdict } from '../evaluation.ts';
import { countOf, formatFacts, pointsText } from '../text/format.ts';
import type { Sight } from './sight.ts';

/** What an item asks, and what two runs answered, as lines of `reportText`; null for nothing. */
export interface ItemTexts {
  readonly question: string | null;
  readonly expected: string | null;
  readonly baseline_output: string | null;
  readonly output: string | null;
}

/** An item whose score is lower than the baseline's, with its texts if they were read. */
export interface WorseItem extends Partial<ItemTexts> {
  readonly section: string;
  readonly order_index: number;
  readonly item_id: string | null;
  readonly baseline_score: number;
  readonly score: number;
}

/** The comparison of the items of one scorer, of one section or all. */
export interface GateCase {
  readonly scorer: string;
  /** Null for all sections. */
  readonly section: string | null;
  /** Whether this is the comparison that decides; the others are for information. */
  readonly decides: boolean;
  readonly verdict: Verdict;
  readonly reason: string;
  readonly paired: number;
  readonly baseline_mean: number | null;
  readonly mean: number | null;
  readonly mean_difference: number | null;
  /** Wider than a 95 % interval if several cases inform. */
  readonly interval: Interval | null;
  /** Items with a lower score. */
  readonly worse_total: number;
  /** The first of them. */
  readonly worse_items: readonly WorseItem[];
}

type GateRun = Pick<Run, 'id' | 'dataset_id' | 'dataset_version' | 'run_hash'>;

/** Everything that a gate says, with the names and in the order of its JSON. Texts from the service are lines of `reportText`. */
export interface GateReport {
  readonly verdict: Verdict;
  readonly reason: string;
  readonly exit_code: number;
  readonly max_drop: number;
  /** With the label that named it. */
  readonly baseline: GateRun & { readonly label?: string };
  readonly run: GateRun;
  /** How many results people have judged, and how the scorer that decides agrees with them. */
  readonly labels?: {
    readonly required: number;
    readonly found: number;
    readonly agreement: number | null;
    readonly kappa: number | null;
  };
  /** The bar that was sealed before the run, and the verdict of the service on it. */
  readonly sealed?: { readonly hash: string } & NonNullable<Run['verdict']>;
  /** Null if it is unknown. */
  readonly sight: Sight | null;
  /** The deciding case is the first. */
  readonly cases: readonly [GateCase, ...GateCase[]];
  readonly warnings: readonly string[];
  /** What only other forms of the report show. */
  readonly about: {
    readonly dataset: string;
    readonly startedAt: string;
    readonly durationMs: number;
    /** Whether the gate fails: it is worse, or undecided if that fails. */
    readonly fails: boolean;
    /** Members of the configuration that differ: JSON Pointer, and both values. */
    readonly configDifferences: readonly {
      readonly path: string;
      readonly baseline: string | undefined;
      readonly run: string | undefined;
    }[];
  };
}

const VERDICT_TEXTS: Readonly<Record<Verdict, string>> = {
  not_worse: 'not worse',
  worse: 'worse',
  undecided: 'undecided',
};

/** `-2.3 to 0.4`, in points. */
export function intervalPoints([low, high]: Interval): string {
  return `${pointsText(low)} to ${pointsText(high)}`;
}

/** `12 of 50 required, agreement 0.9, kappa 0.75`. */
function labelText({ found, required, agreement, kappa }: NonNullable<GateReport['labels']>): string {
  const agrees = agreement === null ? '' : `, agreement ${scoreText(agreement)}`;
  return `${found} of ${required} required${agrees}${kappa === null ? '' : `, kappa ${scoreText(kappa)}`}`;
}

/** `met, sealed at …, 3 outputs may be older`. */
function sealText({ sealed }: GateReport): string | null {
  if (sealed === undefined) return null;
  const { outcome, sealed_at: at, outputs_before: before } = sealed;
  return `${outcome.replace('_', ' ')}, sealed at ${at}, ${countOf(before, 'output')} may be older`;
}

/** Where an item is: `test 12 (q12)`. */
function placeOf({ section, order_index, item_id }: WorseItem): string {
  return `${section} ${order_index}${item_id === null ? '' : ` (${item_id})`}`;
}

/** The texts of an item, each with its name; none if they were not read. */
function factsOf(item: WorseItem): readonly (readonly [name: string, text: string | null])[] {
  if (item.question === undefined) return [];
  return [
    ['question', item.question],
    ['expected', item.expected ?? null],
    ['baseline', item.baseline_output ?? null],
    ['now', item.output ?? null],
  ];
}

const scoreText = (score: number | null): string =>
  score === null ? 'none' : String(Number(score.toPrecision(4)));

function caseText({ paired, baseline_mean, mean, mean_difference: difference, interval }: GateCase): string {
  if (difference === null) return `${paired} items compared.`;
  const bounds = interval === null ? 'without an interval' : `interval ${intervalPoints(interval)}`;
  const change = `${scoreText(baseline_mean)} → ${scoreText(mean)}`;
  return `${paired} items compared: ${change}, a difference of ${pointsText(difference)} points (${bounds}).`;
}

export const verdictLine = ({ verdict, reason }: GateReport): string =>
  `svc-pkg: ${VERDICT_TEXTS[verdict]}: ${reason}\n`;

export function gateText(report: GateReport): string {
  const { baseline } = report;
  const [deciding, ...others] = report.cases;
  const { interval, mean_difference: difference } = deciding;
  return formatFacts([
    ['verdict', VERDICT_TEXTS[report.verdict]],
    ['reason', report.reason],
    ['scorer', deciding.scorer],
    ['common items', deciding.paired],
    ['mean', `${scoreText(deciding.baseline_mean)} → ${scoreText(deciding.mean)}`],
    ['difference', difference === null ? null : `${pointsText(difference)} points`],
    ['95 % interval', interval && `${intervalPoints(interval)} points`],
    ['allowed drop', `${pointsText(report.max_drop)} points`],
    ['worse items', deciding.worse_total],
    ['judged results', report.labels && labelText(report.labels)],
    ['baseline', `${baseline.id}${baseline.label === undefined ? '' : ` (label ${baseline.label})`}`],
    ['run', report.run.id],
    ['run hash', report.run.run_hash],
    ['sealed bar', sealText(report)],
    ...report.warnings.map((warning) => ['note', warning] as const),
    ...others
      .filter(({ verdict }) => verdict === 'worse')
      .map((one) => ['also worse', `${one.scorer}, ${one.section ?? 'all sections'}`] as const),
  ]);
}

/** GitHub shows ten of a kind for each step. */
const MAX_CASES = 9;

/** A gate as workflow commands of GitHub Actions, one per line: its verdict, and each section that got worse. */
export function githubAnnotations(report: GateReport): string {
  const kind = report.about.fails ? 'error' : report.verdict === 'undecided' ? 'warning' : 'notice';
  const [deciding, ...others] = report.cases;
  const title = `Gate of ${report.about.dataset}: ${VERDICT_TEXTS[report.verdict]}`;
  const worse = others.filter(({ verdict }) => verdict === 'worse').slice(0, MAX_CASES);
  return [
    command(kind, title, `${report.reason} ${caseText(deciding)}`),
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

/** Items that a case of a JUnit report names. */
const MAX_ITEMS = 50;

/**
 * A gate as JUnit XML: one suite, and a case for each scorer and section. Worse cases fail, and so does the deciding
 * one if the gate fails; undecided cases are skipped.
 */
export function junitReport(report: GateReport): string {
  const failures = report.cases.filter((one) => outcomeOf(report, one) === 'failure').length;
  const skipped = report.cases.filter((one) => outcomeOf(report, one) === 'skipped').length;
  const time = (report.about.durationMs / 1000).toFixed(3);
  const counts = `tests="${report.cases.length}" failures="${failures}" errors="0" skipped="${skipped}" time="${time}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="svc-pkg gate" ${counts}>`,
    `  <testsuite name="${xmlText(`gate of ${report.about.dataset}`)}" ${counts} timestamp="${xmlText(report.about.startedAt)}">`,
    ...propertyElements(report),
    ...report.cases.map((one) => caseElement(report, one)),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function propertyElements({ run, sealed }: GateReport): string[] {
  const { hash, outcome, sealed_at: sealedAt, outputs_before: before } = sealed ?? {};
  const properties = Object.entries({
    ...{ run_hash: run.run_hash, bar_hash: hash, bar_outcome: outcome, bar_sealed_at: sealedAt },
    bar_outputs_before: before,
  }).filter(([, value]) => value != null);
  if (properties.length === 0) return [];
  const elements = properties.map(
    ([name, value]) => `      <property name="${name}" value="${xmlText(String(value))}"/>`,
  );
  return ['    <properties>', ...elements, '    </properties>'];
}

/** Too few labels decide nothing, whatever the interval says. */
function outcomeOf(report: GateReport, { decides, verdict }: GateCase): 'passed' | 'skipped' | 'failure' {
  const shown = decides ? report.verdict : verdict;
  if (shown === 'worse' || (decides && report.about.fails)) return 'failure';
  return shown === 'undecided' ? 'skipped' : 'passed';
}

function caseElement(report: GateReport, one: GateCase): string {
  const { reason, verdict } = one.decides ? report : one;
  const numbers = caseText(one);
  const output = `\n      <system-out>${xmlText(numbers)}</system-out>`;
  const failed = [numbers, ...failedItems(one)].map(xmlText).join('\n');
  const bodies = {
    failure: `\n      <failure message="${xmlText(reason)}" type="${verdict}">${failed}</failure>`,
    skipped: `\n      <skipped message="${xmlText(reason)}"/>${output}`,
    passed: output,
  };
  const name = xmlText(one.section ?? 'all sections');
  return `    <testcase classname="${xmlText(one.scorer)}" name="${name}" time="0">${bodies[outcomeOf(report, one)]}\n    </testcase>`;
}

function failedItems({ worse_items, worse_total }: GateCase): string[] {
  const shown = worse_items.slice(0, MAX_ITEMS);
  const more = worse_total - shown.length;
  const lines = shown.flatMap((item) => [
    `- ${placeOf(item)}: ${scoreText(item.baseline_score)} → ${scoreText(item.score)}`,
    ...factsOf(item).flatMap(([name, text]) => (text === null ? [] : [`  ${name}: ${text}`])),
  ]);
  return more > 0 ? [...lines, `- and ${more} more`] : lines;
}

const REFERENCES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Not characters of XML 1.0 (2.2), not even as references. */
const NOT_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

/** Text as content and as the value of an attribute of XML 1.0. */
function xmlText(text: string): string {
  return text
    .toWellFormed()
    .replace(NOT_XML, '\ufffd')
    .replace(/[&<>"']/g, (character) => REFERENCES[character] ?? '');
}

/** Cases and members of the configuration that a summary lists. */
const MAX_LISTED = 50;

/** A gate as Markdown, in which every text from the service is a code span. */
export function markdownSummary(report: GateReport): string {
  const { labels, sealed } = report;
  const { label } = report.baseline;
  const [deciding, ...others] = report.cases;
  const worse = deciding.worse_items.filter(({ question }) => question !== undefined);
  const more = deciding.worse_total - worse.length;
  return [
    `## Gate of ${codeSpan(report.about.dataset)}: ${VERDICT_TEXTS[report.verdict]}`,
    '',
    report.reason,
    '',
    `- Scorer ${codeSpan(deciding.scorer)}: ${caseText(deciding)}`,
    `- Allowed drop: ${pointsText(report.max_drop)} points`,
    `- Baseline: ${runText(report.baseline)}${label === undefined ? '' : `, the newest with the label ${codeSpan(label)}`}`,
    `- Run: ${runText(report.run)}`,
    ...(report.run.run_hash === null ? [] : [`- Run hash: ${codeSpan(report.run.run_hash)}`]),
    ...(sealed === undefined ? [] : [`- Sealed bar: ${sealText(report)} (${codeSpan(sealed.hash)})`]),
    ...(labels === undefined ? [] : [`- Results that people have judged: ${labelText(labels)}`]),
    ...report.warnings.map((warning) => `- **Note:** ${warning}`),
    ...listed('Sections and scorers', others, sectionLine, [
      'They do not decide. Their intervals are wider, so that all of them together raise a false alarm as rarely as one.',
    ]),
    ...listed('What differs in the configuration', report.about.configDifferences, differenceLine),
    ...(worse.length === 0 ? [] : ['', '### Items that got worse', '', ...worse.flatMap(itemLines)]),
    ...(worse.length > 0 && more > 0 ? [`- and ${more} more`] : []),
    '',
  ].join('\n');
}

const runText = ({ id, dataset_version }: GateRun): string =>
  `${codeSpan(id)}, version ${dataset_version} of the dataset`;

function differenceLine({ path, baseline, run }: GateReport['about']['configDifferences'][number]): string {
  const shown = (text: string | undefined): string => (text === undefined ? 'absent' : codeSpan(text));
  return `${codeSpan(path)}: ${shown(baseline)} → ${shown(run)}`;
}

function sectionLine(one: GateCase): string {
  const where = one.section === null ? 'all sections' : codeSpan(one.section);
  return `**${VERDICT_TEXTS[one.verdict]}** – ${codeSpan(one.scorer)}, ${where}: ${caseText(one)}`;
}

function listed<T>(
  title: string,
  entries: readonly T[],
  line: (entry: T) => string,
  intro: readonly string[] = [],
): string[] {
  if (entries.length === 0) return [];
  const shown = entries.slice(0, MAX_LISTED).map((entry) => `- ${line(entry)}`);
  const more = entries.length - shown.length;
  return [
    '',
    `### ${title}`,
    '',
    ...intro.flatMap((text) => [text, '']),
    ...shown,
    ...(more > 0 ? [`- and ${more} more`] : []),
  ];
}

function itemLines(item: WorseItem): string[] {
  return [
    `- ${codeSpan(placeOf(item))}: ${scoreText(item.baseline_score)} → ${scoreText(item.score)}`,
    ...factsOf(item).map(([name, text]) => `  - ${name}: ${text === null ? 'none' : codeSpan(text)}`),
  ];
}

/**
 * A line of text as a code span of Markdown (CommonMark 0.31, 6.1), in which no renderer finds HTML, links, images or
 * mentions. Its delimiters are longer than every run of backticks in it. It must not be in a table.
 */
function codeSpan(line: string): string {
  if (line === '') return '(empty)';
  const longest = Math.max(0, ...(line.match(/`+/g) ?? []).map((run) => run.length));
  const delimiter = '`'.repeat(longest + 1);
  const needsBlanks = line.startsWith('`') || line.endsWith('`');
  return needsBlanks ? `${delimiter} ${line} ${delimiter}` : `${delimiter}${line}${delimiter}`;
}
