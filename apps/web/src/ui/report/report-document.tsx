import type { ReactNode } from 'react';
import { REPORT_STYLE } from './report-style.ts';

/** A separate document: it has all that it shows, and its policy forbids it scripts and requests. */
export function ReportDocument({
  title,
  subtitle,
  children,
}: {
  readonly title: string;
  readonly subtitle: string;
  readonly children: ReactNode;
}) {
  return (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta
          httpEquiv="Content-Security-Policy"
          content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
        />
        <title>{`${title} · report`}</title>
        <style>{REPORT_STYLE}</style>
      </head>
      <body>
        <main>
          <h1 dir="auto">{title}</h1>
          <p className="dim">{subtitle}</p>
          {children}
        </main>
      </body>
    </html>
  );
}

/** A table of a report. */
export function ReportTable({
  headers,
  rows,
  className,
  classOf,
}: {
  readonly headers: readonly ReactNode[];
  readonly rows: readonly (readonly ReactNode[])[];
  readonly className?: string;
  /** Class of a row. */
  readonly classOf?: (row: number) => string | undefined;
}) {
  return (
    <table className={className}>
      <thead>
        <tr>
          {headers.map((header, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a report never changes
            <th key={at} scope="col">
              {header}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([first, ...cells], at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a report never changes
          <tr key={at} className={classOf?.(at)}>
            <th scope="row" dir="auto">
              {first}
            </th>
            {cells.map((cell, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a report never changes
              <td key={index} dir="auto">
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
