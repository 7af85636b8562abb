import { caseText, factsOf, type GateCase, type GateReport, placeOf, scoreText } from './gate-report.ts';

/** Items that a case names. */
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
  const reason = one.decides ? report.reason : one.reason;
  const verdict = one.decides ? report.verdict : one.verdict;
  const name = xmlText(one.section ?? 'all sections');
  const start = `    <testcase classname="${xmlText(one.scorer)}" name="${name}" time="0">`;
  const numbers = xmlText(caseText(one));
  const output = `<system-out>${numbers}</system-out>`;
  switch (outcomeOf(report, one)) {
    case 'failure': {
      const text = [caseText(one), ...itemLines(one)].map(xmlText).join('\n');
      return `${start}\n      <failure message="${xmlText(reason)}" type="${verdict}">${text}</failure>\n    </testcase>`;
    }
    case 'skipped':
      return `${start}\n      <skipped message="${xmlText(reason)}"/>\n      ${output}\n    </testcase>`;
    case 'passed':
      return `${start}\n      ${output}\n    </testcase>`;
  }
}

function itemLines({ worse_items, worse_total }: GateCase): string[] {
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
