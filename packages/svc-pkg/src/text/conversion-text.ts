import type { Lost, ToolReport, WrittenTool } from '@svc/formats';
import { formatLocation } from '@svc/jsonl-v23';
import type { ConversionReport, ReportedChange } from '@svc/pkg-format/node';
import { countOf, formatFacts, printableText, printableValue } from './format.ts';

/** Text for people lists this many entries and counts the rest. */
const MAX_LISTED = 100;

/** The report of a conversion, for people. */
export function conversionText(report: ConversionReport): string {
  const { changes, sections, carried } = report;
  return [
    formatFacts([
      ['output', report.output],
      ['name', printableValue(report.name)],
      ['version hash', report.versionHash],
      ['items', `${report.itemCount} in ${countOf(sections.length, 'section')}`],
      ['files', report.fileCount],
      ['changed', report.alreadyNew ? 'only the generator in the manifest: it already was a package' : null],
      ['changed', !report.alreadyNew && changes.length === 0 ? 'nothing in the items' : null],
    ]),
    ...list('\nsections', sections, ({ name, from, itemCount }) => {
      return `${printableValue(name)}: ${countOf(itemCount, 'item')} of ${printableValue(from)}`;
    }),
    ...list('\nchanged', changes, changeLine),
    ...list('\ncarried over unchanged', carried, printableValue),
  ].join('');
}

/** The report of a conversion, for machines. */
export function conversionDocument(input: string, report: ConversionReport): Record<string, unknown> {
  return {
    input,
    output: report.output,
    name: report.name,
    version_hash: report.versionHash,
    item_count: report.itemCount,
    sections: report.sections.map(({ name, from, itemCount }) => ({ name, from, item_count: itemCount })),
    file_count: report.fileCount,
    changes: report.changes.map(({ what, from, to, count, first }) => ({ what, from, to, count, first })),
    carried: report.carried,
    already_new: report.alreadyNew,
  };
}

/** The report on files of another tool, for people. */
export function toolText(
  { tool, name, versionHash, itemCount, sections, resultCount, lost }: ToolReport,
  output: string,
): string {
  return [
    formatFacts([
      ['output', output],
      ['tool', tool],
      ['name', printableValue(name)],
      ['version hash', versionHash],
      ['items', `${itemCount} in ${countOf(sections.length, 'section')}`],
      ['results', resultCount === 0 ? null : resultCount],
    ]),
    ...list(
      '\nwithout a place',
      lost,
      ({ what, count, first }) => `${count} x ${what} (first: ${formatLocation(first)})`,
    ),
  ].join('');
}

/** The report on files of another tool, for machines. */
export function toolDocument(
  input: readonly string[],
  { tool, prompt, name, versionHash, itemCount, sections, resultCount, lost }: ToolReport,
  output: string,
): Record<string, unknown> {
  return {
    ...{ input, output, tool, prompt, name, version_hash: versionHash, item_count: itemCount },
    sections: sections.map((section) => ({ name: section.name, item_count: section.itemCount })),
    result_count: resultCount,
    lost: lost.map(({ what, count, first }) => ({ what, count, first })),
  };
}

/** The report on files for another tool, for people. */
export function toolWrittenText(tool: WrittenTool, output: string, lost: readonly Lost[]): string {
  return [
    formatFacts([
      ['output', output],
      ['tool', tool],
    ]),
    ...list('\nwithout a place', lost, ({ what, count }) => `${count} x ${what}`),
  ].join('');
}

/** The report on files for another tool, for machines. */
export function toolWrittenDocument(
  input: string,
  tool: WrittenTool,
  output: string,
  lost: readonly Lost[],
): Record<string, unknown> {
  return { input, output, tool, lost: lost.map(({ what, count }) => ({ what, count })) };
}

type Change = Pick<ReportedChange, 'from' | 'to'>;

/** Each kind of change in words. */
const CHANGES: Readonly<Record<ReportedChange['what'], (change: Change) => string>> = {
  moved: ({ from, to }) => `${from} is now ${to}`,
  clash: ({ from, to }) => `${from} stays: ${to} has another value`,
  kept: ({ from, to }) => `${from} stays: it is not valid as ${to}`,
  applied: ({ from, to }) => `${to} comes from ${from.replace(/^dataset /, '')} of the dataset`,
  asset: ({ from, to }) => `${from} is now a file in ${to}`,
  removed: ({ from }) => `${from} was null and is removed`,
};

function changeLine({ what, count, first, ...change }: ReportedChange): string {
  return `${count} x ${CHANGES[what](change)} (first: ${formatLocation(first)})`;
}

function list<T>(title: string, entries: readonly T[], line: (entry: T) => string): string[] {
  if (entries.length === 0) return [];
  const lines = entries.slice(0, MAX_LISTED).map((entry) => `  ${printableText(line(entry))}\n`);
  const more = entries.length - lines.length;
  return [`${title}\n`, ...lines, ...(more > 0 ? [`  ... and ${more} more\n`] : [])];
}
