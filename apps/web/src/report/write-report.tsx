import type { ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { BRAND, consoleName } from '../brand.ts';
import { IntervalBar, ScoreBar } from '../ui/charts/interval-bar.tsx';
import { formatCount, formatCountOf } from '../ui/text/formats.ts';

export interface ReportBar {
  readonly name: string;
  readonly value: number;
  readonly ci95?: readonly number[] | null;
  readonly note: string;
}

/** A chart of a report: scores from 0 to 1, differences around 0, or shares of the largest count. */
export interface ReportChart {
  readonly title: string;
  readonly kind: 'scores' | 'differences' | 'counts';
  readonly bars: readonly ReportBar[];
}

/** A text of a report, with how long it was before it was cut. */
export type CutText = ReturnType<typeof cutText>;

export interface ReportCase {
  readonly kind: 'error' | 'wrong' | 'right' | 'unscored' | 'worse' | 'better' | 'other';
  readonly id: string;
  readonly texts: readonly CutText[];
  readonly numbers: readonly string[];
}

interface ReportList {
  readonly title: string;
  readonly columns: readonly string[];
  readonly cases: readonly ReportCase[];
  /** How many cases there are, unread ones included. */
  readonly total: number;
}

interface Report {
  readonly title: string;
  readonly subtitle: readonly (string | null)[];
  readonly path: string;
  readonly verdicts: readonly string[];
  readonly facts: readonly (readonly [name: string, value: string, note?: string])[];
  readonly charts: readonly ReportChart[];
  readonly lists: readonly ReportList[];
  readonly settings: { readonly columns: readonly string[]; readonly rows: readonly (readonly string[])[] };
}

/** For the cases; the rest of a report stays far below what remains of 5 MB. */
const MAX_CASE_BYTES = 4_600_000;

const MAX_BARS = 60;

/** Writes a report as one HTML file below 5 MB. It has all that it shows, and its policy forbids it scripts and requests. */
export function writeReport({ title, subtitle, path, ...report }: Report): Blob {
  const { verdicts, facts, charts, lists, settings } = report;
  const shown = charts.filter(({ bars }) => bars.length > 0);
  const made = `made ${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const parts = [...shown, ...lists].map((part) => part.title);
  const html = (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta
          httpEquiv="Content-Security-Policy"
          content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
        />
        <title>{`${title} · ${consoleName()}`}</title>
        <style>{STYLE}</style>
      </head>
      <body>
        <main>
          <h1 dir="auto">{title}</h1>
          <p className="dim">{[...subtitle, made].filter((part) => part !== null).join(' · ')}</p>
          {verdicts.map((verdict) => (
            <p key={verdict} className="verdict" dir="auto">
              {verdict}
            </p>
          ))}
          <dl>
            {facts.map(([name, value, note]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>
                  {value}
                  {note !== undefined && <small>{note}</small>}
                </dd>
              </div>
            ))}
          </dl>
          <nav aria-label="Contents">
            {[...parts, 'Configuration'].map((part, at) => (
              <a key={part} href={`#part-${at}`}>
                {part}
              </a>
            ))}
            <a href={`${location.origin}${path}`}>The live page</a>
          </nav>
          <div className="charts">
            {shown.map((chart, at) => (
              <Section key={chart.title} title={chart.title} at={at}>
                <Chart chart={chart} />
              </Section>
            ))}
          </div>
          {lists.map((list, at) => (
            <Section key={list.title} title={list.title} at={shown.length + at}>
              <Cases list={list} maxBytes={MAX_CASE_BYTES / lists.length} />
            </Section>
          ))}
          <Section title="Configuration" at={parts.length}>
            <Table headers={settings.columns} rows={settings.rows.map((cells) => ({ cells }))} />
          </Section>
        </main>
      </body>
    </html>
  );
  return new Blob([`<!doctype html>${renderToStaticMarkup(html)}`], { type: 'text/html' });
}

function Section(props: { readonly title: string; readonly at: number; readonly children: ReactNode }) {
  const { title, at, children } = props;
  return (
    <section id={`part-${at}`}>
      <h2 dir="auto">{title}</h2>
      {children}
    </section>
  );
}

function Chart({ chart: { kind, bars } }: { readonly chart: ReportChart }) {
  const ends = bars.flatMap(({ value, ci95 }) => [value, ...(ci95 ?? [])].map(Math.abs));
  const most = Math.max(0.01, ...ends);
  return (
    <Table
      className="chart"
      rows={bars.slice(0, MAX_BARS).map(({ name, value, ci95 = null, note }) => ({
        cells: [
          name,
          kind === 'differences' ? (
            <IntervalBar key={name} value={value} ci95={ci95} scale={most} />
          ) : (
            <ScoreBar key={name} mean={kind === 'scores' ? value : value / most} ci95={ci95} width={160} />
          ),
          note,
        ],
      }))}
    />
  );
}

const KINDS: Readonly<Record<ReportCase['kind'], string>> = {
  error: '– no answer',
  wrong: '✗ wrong',
  right: '✓ right',
  unscored: '– not scored',
  worse: '▼ worse',
  better: '▲ better',
  other: '= other output',
};

function Cases(props: { readonly list: ReportList; readonly maxBytes: number }) {
  const { maxBytes } = props;
  const { cases: all, columns, total } = props.list;
  const { cases, length } = fitCases(all, maxBytes);
  const isShort = ({ text, length: whole }: CutText): boolean => Math.min(length, text.length) < whole;
  const short = cases.reduce((sum, { texts }) => sum + texts.filter(isShort).length, 0);
  const left = total - cases.length;
  return (
    <>
      <p className="dim">
        {formatCount(cases.length)} of {formatCount(total)}: what went wrong first.
        {left > 0 && ` ${formatCount(left)} are left out to keep this file small.`}
        {short > 0 &&
          ` ${formatCountOf(short, 'text')} of more than ${formatCount(length)} characters ${short === 1 ? 'is' : 'are'} shortened, and ${short === 1 ? 'says' : 'say'} so.`}
      </p>
      <Table
        className="cases"
        headers={['Outcome', 'Id', ...columns]}
        rows={cases.map(({ kind, id, texts, numbers }) => ({
          kind,
          cells: [
            KINDS[kind],
            id,
            ...texts.map((cut) =>
              isShort(cut)
                ? `${cut.text.slice(0, length)}… (shortened, of ${formatCount(cut.length)} characters)`
                : cut.text,
            ),
            ...numbers,
          ],
        }))}
      />
    </>
  );
}

/** Lengths to which texts are shortened, the longest that fits first. */
const LENGTHS = [20_000, 10_000, 5_000, 2_000, 1_000, 500, 250, 120, 60, 30] as const;

/** Bytes of markup around the texts of a case. */
const CASE_BYTES = 275;

/** Characters that are kept of a text, of the first cases and of the rest, before it is known how many cases there are. */
const KEPT = [LENGTHS[0], 2_000] as const;
const FIRST_CASES = 1_000;

/** A text for the case at a place, cut to what a report may need of it. */
export const cutText = (text: string, at: number) => ({
  text: text.slice(0, at < FIRST_CASES ? KEPT[0] : KEPT[1]),
  length: text.length,
});

/** Whether a report leaves out what matters least: right results and equal pairs. */
const isMain = ({ kind }: ReportCase): boolean => kind !== 'right' && kind !== 'unscored';

/** Chooses the longest texts with which all errors, wrong results and differences fit, and as many of the others as then do. */
export function fitCases(cases: readonly ReportCase[], maxBytes: number) {
  const main = cases.filter(isMain);
  const length = LENGTHS.find((one) => bytesOf(main, one) <= maxBytes) ?? LENGTHS[LENGTHS.length - 1] ?? 0;
  let bytes = 0;
  const end = cases.findIndex((one) => {
    bytes += bytesOf([one], length);
    return bytes > maxBytes;
  });
  return { cases: end === -1 ? cases : cases.slice(0, end), length };
}

/** Upper bound of the size in bytes: each text is escaped, and a character may take four bytes. */
const bytesOf = (cases: readonly ReportCase[], length: number): number =>
  cases.reduce(
    (sum, { id, texts }) =>
      sum +
      CASE_BYTES +
      sizeOf(id) +
      texts.reduce((size, { text }) => size + sizeOf(text.slice(0, length)), 0),
    0,
  );

const encoder = new TextEncoder();
const ESCAPED = /[&<>"']/g;

const sizeOf = (text: string): number => encoder.encode(text).length + 5 * (text.match(ESCAPED)?.length ?? 0);

function Table(props: {
  readonly headers?: readonly string[];
  readonly rows: readonly { readonly kind?: string; readonly cells: readonly ReactNode[] }[];
  readonly className?: string;
}) {
  const { headers, rows, className } = props;
  // biome-ignore-start lint/suspicious/noArrayIndexKey: a report never changes
  return (
    <table className={className}>
      {headers !== undefined && (
        <thead>
          <tr>
            {headers.map((header, at) => (
              <th key={at} scope="col" dir="auto">
                {header}
              </th>
            ))}
          </tr>
        </thead>
      )}
      <tbody>
        {rows.map(({ kind, cells: [first, ...cells] }, at) => (
          <tr key={at} className={kind}>
            <th scope="row" dir="auto">
              {first}
            </th>
            {cells.map((cell, index) => (
              <td key={index} dir="auto">
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
  // biome-ignore-end lint/suspicious/noArrayIndexKey: a report never changes
}

/** Light and dark, with the colours that the charts of the pages name. */
const STYLE = `
:root {
  color-scheme: light dark;
  --mantine-color-brand-3: ${BRAND.colors[3]};
  --mantine-color-brand-6: ${BRAND.colors[6]};
  --mantine-primary-color-filled: light-dark(${BRAND.colors[7]}, ${BRAND.colors[4]});
  --mantine-color-default-border: light-dark(#ced4da, #495057);
  --mantine-color-dimmed: light-dark(#495057, #c1c2c5);
}
body { margin: 0; font: 14px/1.45 Inter, system-ui, sans-serif; font-variant-numeric: tabular-nums; color: light-dark(#212529, #e9ecef); background: light-dark(#fff, #1a1b1e); }
main { max-width: 1500px; margin: 0 auto; padding: 24px 16px; }
h1, .verdict { margin: 0; overflow-wrap: anywhere; }
h1 { font-size: 18px; }
.verdict { margin-top: 12px; font-size: 22px; font-weight: 600; }
h2 { margin: 28px 0 8px; font-size: 16px; }
a { color: var(--mantine-primary-color-filled); }
nav { display: flex; flex-wrap: wrap; gap: 4px 16px; }
.dim, small, dt { color: light-dark(#495057, #c1c2c5); }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: 8px; margin: 16px 0; }
dl > div { border: 1px solid light-dark(#dee2e6, #373a40); border-radius: 4px; padding: 8px; }
dd { margin: 0; font-weight: 600; overflow-wrap: anywhere; }
small { display: block; font-weight: 400; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 480px), 1fr)); gap: 0 32px; align-items: start; }
table { border-collapse: collapse; }
.chart { width: 100%; }
.chart th { width: 30%; }
.cases { width: 100%; table-layout: fixed; }
th, td { text-align: start; vertical-align: top; padding: 4px 8px; border-bottom: 1px solid light-dark(#dee2e6, #373a40); overflow-wrap: anywhere; font-weight: 400; white-space: pre-wrap; }
thead th { font-weight: 600; }
.cases thead th:first-child, .cases thead th:nth-child(2) { width: 90px; }
.wrong > :first-child, .worse > :first-child { color: light-dark(#c92a2a, #ff8787); }
.right > :first-child, .better > :first-child { color: light-dark(#087f5b, #38d9a9); }
.error > :first-child { color: light-dark(#a34100, #ffa94d); }
@media (max-width: 700px) { .cases { table-layout: auto; } main { overflow-x: auto; } }
`;
