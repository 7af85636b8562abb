import type { AuditEntry } from '@svc/store';
import type { TableColumn } from '@svc/tabular/write';
import { type TableExport, type TableOptions, tableExport } from './table-export.ts';

const text = (name: string, read: (entry: AuditEntry) => string | null): TableColumn<AuditEntry> => ({
  ...{ name, type: 'string' },
  json: (entry) => {
    const value = read(entry);
    return value === null ? null : JSON.stringify(value);
  },
});

/** The columns of the audit. */
export const AUDIT_COLUMNS: readonly TableColumn<AuditEntry>[] = [
  text('id', ({ id }) => id),
  text('at', ({ createdAt }) => createdAt.toISOString()),
  text('actor', ({ actor }) => actor),
  text('role', ({ role }) => role),
  text('action', ({ action }) => action),
  text('kind', ({ kind }) => kind),
  text('object_id', ({ objectId }) => objectId),
  text('name', ({ name }) => name),
  text('handle', ({ handle }) => handle),
  { name: 'version', type: 'int64', json: ({ version }) => version?.toString() ?? null },
  { name: 'details', type: 'json', json: ({ details }) => details },
  text('request_id', ({ requestId }) => requestId),
];

/** Rows of the audit as a table. @param read gives them in batches, when the bytes are taken */
export function auditTable(
  read: () => AsyncIterable<readonly AuditEntry[]>,
  options: TableOptions<AuditEntry>,
): TableExport {
  return tableExport({ baseName: 'audit', source: null, read }, options);
}
