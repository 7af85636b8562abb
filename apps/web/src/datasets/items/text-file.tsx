import { Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import Papa from 'papaparse';
import { accepted } from '../../api/api.ts';
import { isShown, QueryState } from '../../ui/query-state.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { formatBytes, formatCount } from '../../ui/text/formats.ts';
import { RichText } from '../../ui/text/rich-text.tsx';

/** What is read of a file, and shown of a table. */
const MAX_BYTES = 64 * 1024;
const [MAX_ROWS, MAX_COLUMNS, MAX_CELL] = [100, 50, 200] as const;

export interface ShownFile {
  readonly url: string;
  readonly type: string;
  readonly name: string;
}

export default function TextFile({ url, type, name }: ShownFile) {
  const found = useQuery({
    queryKey: ['text file', url],
    queryFn: ({ signal }) => readStart(url, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (!isShown(found)) return <QueryState query={found} rows={1} />;
  const { text, total, isWhole } = found.data;
  return (
    <>
      {/csv|tab-separated/.test(type) ? (
        <TextTable text={text} name={name} isWhole={isWhole} />
      ) : (
        <div className="text-file">
          <RichText text={text} isCode={!/plain|markdown/.test(type)} />
        </div>
      )}
      {!isWhole && (
        <Dimmed size="xs">
          The first {formatBytes(MAX_BYTES)} of {formatBytes(total)}
        </Dimmed>
      )}
    </>
  );
}

export async function readStart(url: string, signal: AbortSignal) {
  const response = await fetch(url, { headers: { Range: `bytes=0-${MAX_BYTES - 1}` }, signal });
  // no part of an empty file can be read
  if (response.status === 416) return { text: '', total: 0, isWhole: true };
  const { headers } = await accepted(response);
  const total = Number(headers.get('content-range')?.split('/').at(-1) ?? 0);
  return { text: await response.text(), total, isWhole: total <= MAX_BYTES };
}

function TextTable(props: { readonly text: string; readonly name: string; readonly isWhole: boolean }) {
  const { text, name, isWhole } = props;
  const { data } = Papa.parse<string[]>(text, { preview: MAX_ROWS + 2, skipEmptyLines: true });
  // the last row of a part may lack its end
  const [head = [], ...rows] = isWhole || data.length > MAX_ROWS + 1 ? data : data.slice(0, -1);
  const cells = (row: readonly string[]): readonly string[] =>
    row.slice(0, MAX_COLUMNS).map((cell) => (cell.length > MAX_CELL ? `${cell.slice(0, MAX_CELL)}…` : cell));
  return (
    <>
      <section className="scroll text-file" aria-label={`Rows of ${name}`} tabIndex={0}>
        <Table
          stickyHeader
          withColumnBorders
          verticalSpacing={2}
          horizontalSpacing={8}
          fz="xs"
          className="one-line"
          data={{
            head: [...cells(head)],
            body: rows.slice(0, MAX_ROWS).map((row) => [...cells(row)]),
          }}
        />
      </section>
      {(rows.length > MAX_ROWS || head.length > MAX_COLUMNS) && (
        <Dimmed size="xs">
          The first {formatCount(Math.min(rows.length, MAX_ROWS))} rows and{' '}
          {formatCount(Math.min(head.length, MAX_COLUMNS))} columns
        </Dimmed>
      )}
    </>
  );
}
