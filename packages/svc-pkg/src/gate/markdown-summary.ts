import { pointsText } from '../text/format.ts';
import {
  caseText,
  factsOf,
  type GateCase,
  type GateReport,
  type GateRun,
  labelText,
  placeOf,
  scoreText,
  sealText,
  VERDICT_TEXTS,
  type WorseItem,
} from './gate-report.ts';

/** Cases and members of the configuration that a summary lists. */
const MAX_LISTED = 50;

/** A gate as Markdown, in which every text from the service is a code span. */
export function markdownSummary(report: GateReport): string {
  const { label } = report.baseline;
  const [deciding, ...others] = report.cases;
  const worse = deciding?.worse_items.filter(({ question }) => question !== undefined) ?? [];
  const more = (deciding?.worse_total ?? 0) - worse.length;
  return [
    `## Gate of ${codeSpan(report.about.dataset)}: ${VERDICT_TEXTS[report.verdict]}`,
    '',
    report.reason,
    '',
    ...(deciding === undefined ? [] : [`- Scorer ${codeSpan(deciding.scorer)}: ${caseText(deciding)}`]),
    `- Allowed drop: ${pointsText(report.max_drop)} points`,
    `- Baseline: ${runText(report.baseline)}${label === undefined ? '' : `, the newest with the label ${codeSpan(label)}`}`,
    `- Run: ${runText(report.run)}`,
    ...(report.run.run_hash === null ? [] : [`- Run hash: ${codeSpan(report.run.run_hash)}`]),
    ...(report.sealed === undefined
      ? []
      : [`- Sealed bar: ${sealText(report)} (${codeSpan(report.sealed.hash)})`]),
    ...(report.labels === undefined
      ? []
      : [`- Results that people have judged: ${labelText(report.labels)}`]),
    ...report.warnings.map((warning) => `- **Note:** ${warning}`),
    ...listed('Sections and scorers', others, sectionLine, [
      'They do not decide. Their intervals are wider, so that all of them together raise a false alarm as rarely as one.',
    ]),
    ...listed(
      'What differs in the configuration',
      report.about.configDifferences,
      ({ path, baseline, run }) => {
        return `${codeSpan(path)}: ${spanOr(baseline)} → ${spanOr(run)}`;
      },
    ),
    ...(worse.length === 0 ? [] : ['', '### Items that got worse', '', ...worse.flatMap(itemLines)]),
    ...(worse.length > 0 && more > 0 ? [`- and ${more} more`] : []),
    '',
  ].join('\n');
}

const runText = ({ id, dataset_version }: GateRun): string =>
  `${codeSpan(id)}, version ${dataset_version} of the dataset`;

const spanOr = (text: string | undefined): string => (text === undefined ? 'absent' : codeSpan(text));

function sectionLine(one: GateCase): string {
  const where = one.section === null ? 'all sections' : codeSpan(one.section);
  return `**${VERDICT_TEXTS[one.verdict]}** – ${codeSpan(one.scorer)}, ${where}: ${caseText(one)}`;
}

/** Failing cases first. */
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
 *
 * @param line from `reportText`
 */
function codeSpan(line: string): string {
  if (line === '') return '(empty)';
  const longest = Math.max(0, ...(line.match(/`+/g) ?? []).map((run) => run.length));
  const delimiter = '`'.repeat(longest + 1);
  const needsBlanks = line.startsWith('`') || line.endsWith('`');
  return needsBlanks ? `${delimiter} ${line} ${delimiter}` : `${delimiter}${line}${delimiter}`;
}
