import { type Provider, useProviders } from '../runs/create/provider/use-providers.ts';
import { Part } from '../ui/layout/part.tsx';
import { DataTable } from '../ui/table/data-table.tsx';
import type { Column } from '../ui/table/table-model.ts';
import { Dimmed } from '../ui/text/dimmed.ts';

/** The providers that runs can name, without their keys. */
export function Providers() {
  const providers = useProviders();
  return (
    <Part title="Model providers">
      {providers.length === 0 ? (
        <Dimmed>
          None is configured: set SVC_PROVIDER_NAME and SVC_PROVIDER_NAME_ORIGINS for the service and its
          workers. Servers without a key need neither.
        </Dimmed>
      ) : (
        <DataTable
          label="Table of providers"
          columns={COLUMNS}
          rows={providers}
          keyOf={({ name, origins }) => name ?? origins.join(' ')}
        />
      )}
    </Part>
  );
}

const COLUMNS: readonly Column<Provider>[] = [
  { label: 'Key', cell: ({ name }) => name ?? 'none' },
  { label: 'Addresses', wraps: true, cell: ({ origins }) => origins.join(', ') },
  {
    label: 'Models of earlier runs',
    wraps: true,
    cell: ({ models }) => (models.length === 0 ? '–' : models.slice(0, 20).join(', ')),
  },
];
