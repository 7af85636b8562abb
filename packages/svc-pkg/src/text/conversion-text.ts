import type { Lost, ToolReport, WrittenTool } from '@svc/formats';
import { formatLocation } from '@svc/jsonl-v23';
import { jsonText } from '@svc/jsonl-v23/internal';
import type { ConversionReport, ReportedChange } from '@svc/pkg-format/node';
import type { Result } from '../output/print.ts';
import { countOf, formatFacts, printableText, printableValue } from './format.ts';

/** Text for people lists this many entries and counts the rest. */
const MAX_LISTED = 100;

export function conversionResult(input: string, report: ConversionReport): Result {
  const { output, name, versionHash, itemCount, sections, fileCount, changes, carried, alreadyNew } = report;
  return {
    text: () =>
      [
        formatFacts([
          ['output', output],
          ['name', printableValue(name)],
          ['version hash', versionHash],
          ['items', `${itemCount} in ${countOf(sections.length, 'section')}`],
          ['files', fileCount],
          ['changed', alreadyNew ? 'only the generator in the manifest: it already was a package' : null],
          ['changed', !alreadyNew && changes.length === 0 ? 'nothing in the items' : null],
        ]),
        ...list('\nsections', sections, ({ name, from, itemCount }) => {
          return `${printableValue(name)}: ${countOf(itemCount, 'item')} of ${printableValue(from)}`;
        }),
        ...list('\nchanged', changes, changeLine),
        ...list('\ncarried over unchanged', carried, printableValue),
      ].join(''),
    json: () =>
      jsonText({
        ...{ input, output, name, version_hash: versionHash, item_count: itemCount },
        sections: sections.map(({ name, from, itemCount }) => ({ name, from, item_count: itemCount })),
        file_count: fileCount,
        changes: changes.map(({ what, from, to, count, first }) => ({ what, from, to, count, first })),
        ...{ carried, already_new: alreadyNew },
      }),
  };
}

/** The report on files of another tool, which become one package or several. */
export function toolResult(input: readonly string[], reports: readonly ToolReport[]): Result {
  const documents = reports.map((report) => ({
    ...{ input, output: report.output, tool: report.tool, prompt: report.prompt, name: report.name },
    ...{ version_hash: report.versionHash, item_count: report.itemCount },
    sections: report.sections.map((section) => ({ name: section.name, item_count: section.itemCount })),
    result_count: report.resultCount,
    lost: report.lost.map(({ what, count, first }) => ({ what, count, first })),
  }));
  return {
    text: () => reports.map(toolText).join('\n'),
    json: () => jsonText(documents.length === 1 ? documents[0] : documents),
  };
}

const toolText = ({
  output,
  tool,
  name,
  versionHash,
  itemCount,
  sections,
  resultCount,
  lost,
}: ToolReport): string =>
  [
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

export const toolWrittenResult = (
  input: string,
  tool: WrittenTool,
  output: string,
  lost: readonly Lost[],
): Result => ({
  text: () =>
    [
      formatFacts([
        ['output', output],
        ['tool', tool],
      ]),
      ...list('\nwithout a place', lost, ({ what, count }) => `${count} x ${what}`),
    ].join(''),
  json: () => jsonText({ input, output, tool, lost: lost.map(({ what, count }) => ({ what, count })) }),
});

type Change = Pick<ReportedChange, 'from' | 'to'>;

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
