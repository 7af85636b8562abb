import { MEDIA_TYPES, type TableColumn, type TableExport, type TableFormat } from '@svc/flows';
import { invalidRequest, type Route, type RouteResponse, type Schema, stream } from '@svc/runtime';
import { contentDisposition } from '../http/content-disposition.ts';

interface Columns<Row> {
  /** In their default order. */
  readonly columns: readonly TableColumn<Row>[];
  /** On request only. */
  readonly others?: readonly TableColumn<Row>[];
}

/** What the routes of tables in one format share. */
export function tableRoute<Row>(
  format: TableFormat,
  { columns, others = [] }: Columns<Row>,
): Pick<Route, 'produces' | 'responses' | 'streams'> & { readonly query: Record<string, Schema> } {
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
  };
}

/**
 * The columns that a query asks for.
 *
 * @throws RequestError `invalid_request` for an unknown or repeated name
 */
export function columnsOf<Row>(
  asked: unknown,
  { columns, others = [] }: Columns<Row>,
): readonly TableColumn<Row>[] {
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

/** A response with a table, which closes its source at the end. */
export function tableResponse(table: TableExport, source: AsyncDisposable): RouteResponse {
  return stream(
    table.bytes(),
    {
      'Content-Type': table.mediaType,
      'Content-Disposition': contentDisposition(table.fileName),
      'Cache-Control': 'no-cache',
      ...(table.etag === null ? {} : { ETag: table.etag }),
    },
    () => source[Symbol.asyncDispose](),
  );
}
