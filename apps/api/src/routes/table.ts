import { invalidRequest, type Route, type RouteRequest, type Schema } from '@svc/service';
import { type FileExport, MEDIA_TYPES, type TableColumn, type TableFormat } from '@svc/service/flows';
import { downloadResponse } from '../http/send-file.ts';

interface Columns<Row> {
  readonly columns: readonly TableColumn<Row>[];
  readonly others?: readonly TableColumn<Row>[];
}

interface TableSource<Row, Source> extends Columns<Row> {
  open(request: RouteRequest): Promise<Source>;
  table(source: Source, choice: TableChoice<Row>, request: RouteRequest): FileExport;
}

interface TableChoice<Row> {
  readonly columns: readonly TableColumn<Row>[];
  readonly isForExcel: boolean;
}

export function tableRoute<Row, Source extends AsyncDisposable>(
  format: TableFormat,
  { open, table, ...stated }: TableSource<Row, Source>,
): Pick<Route, 'produces' | 'responses' | 'streams' | 'handle'> & { readonly query: Record<string, Schema> } {
  const { columns, others = [] } = stated;
  const names = (of: readonly TableColumn<Row>[]): string => of.map(({ name }) => name).join(', ');
  const onRequest = others.length === 0 ? '' : `; also ${names(others)}`;
  const description = `column names, separated by commas, in the order of the output; by default: ${names(columns)}${onRequest}`;
  const excel = {
    type: 'boolean',
    default: false,
    description:
      'for spreadsheet programs: add a byte order mark, and an apostrophe before each text that would be a formula',
  };
  return {
    query: { columns: { type: 'string', description }, ...(format === 'csv' ? { excel } : {}) },
    produces: MEDIA_TYPES[format].split(';')[0] ?? '',
    streams: 'data',
    responses: {
      200: {
        description: 'the table',
        schema: format === 'parquet' ? { type: 'string', format: 'binary' } : { type: 'string' },
      },
      304: { description: 'not changed since `If-None-Match`' },
    },
    handle: async (request) => {
      const choice = {
        columns: columnsOf(request.query['columns'], stated),
        isForExcel: request.query['excel'] === true,
      };
      await using opening = new AsyncDisposableStack();
      const source = opening.use(await open(request));
      return downloadResponse(table(source, choice, request), opening.move());
    },
  };
}

function columnsOf<Row>(asked: unknown, { columns, others = [] }: Columns<Row>): readonly TableColumn<Row>[] {
  if (typeof asked !== 'string') return columns;
  const available = new Map([...columns, ...others].map((column) => [column.name, column]));
  const chosen = new Set<TableColumn<Row>>();
  for (const name of asked.split(',')) {
    const column = available.get(name.trim());
    if (column === undefined) {
      throw invalidRequest(
        'columns',
        `"${name.slice(0, 100)}" is not a column. Columns are: ${[...available.keys()].join(', ')}.`,
      );
    }
    if (chosen.has(column)) throw invalidRequest('columns', `The column "${column.name}" is named twice.`);
    chosen.add(column);
  }
  return [...chosen];
}
