import { caseText, type GateReport, VERDICT_TEXTS } from './gate-report.ts';

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
