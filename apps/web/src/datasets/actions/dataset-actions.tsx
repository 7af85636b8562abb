import { IconPencil, IconPlayerPlay, IconPlus, IconTrash } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi } from '../../api/api-context.tsx';
import { dataOf } from '../../api/api-problem.ts';
import { useCan } from '../../session/session.tsx';
import { ExportMenu } from '../../ui/export-menu.tsx';
import { DeleteDialog } from '../../ui/form/delete-dialog.tsx';
import { LinkButton } from '../../ui/layout/links.tsx';
import { IconButton, SmallButton } from '../../ui/small-button.tsx';
import { formatCount, formatCountOf } from '../../ui/text/formats.ts';
import { AppendItems } from '../items/edit/append-items.tsx';
import type { Dataset } from '../items/item-windows.ts';
import { EditDataset } from './edit-dataset.tsx';
import { UseInPython } from './use-in-python.tsx';

const route = getRouteApi('/datasets/$id');

const FORMATS = [
  ['Package (.pkg.zip)', 'export'],
  ['JSON Lines', 'items.jsonl'],
  ['CSV', 'items.csv'],
  ['Parquet', 'items.parquet'],
] as const;

/** What can be done with a dataset as a whole; what the session's role may not do is not offered. */
export function DatasetActions({
  dataset,
  isNewest,
}: {
  readonly dataset: Dataset;
  /** Whether this version can be changed; another one is named in all that is done with it. */
  readonly isNewest: boolean;
}) {
  const api = useApi();
  const [dialog, setDialog] = useState<'add' | 'edit' | 'delete' | null>(null);
  const close = (): void => setDialog(null);
  const { section, type, tag, q } = route.useSearch();
  const isFiltered = [section, type, tag, q].some((value) => value !== undefined);
  const canEdit = useCan('editor');
  const canDelete = useCan('admin');
  return (
    <>
      {canEdit && (
        <LinkButton
          size="xs"
          leftSection={<IconPlayerPlay size={16} />}
          to="/runs/new"
          search={{ dataset: dataset.id, version: isNewest ? undefined : String(dataset.version) }}
        >
          {isNewest ? 'New run' : `New run of version ${dataset.version}`}
        </LinkButton>
      )}
      <ExportMenu
        label={isNewest ? 'Export' : `Export version ${dataset.version}`}
        note={isFiltered ? `All ${formatCount(dataset.item_count)} items, without the filters` : undefined}
        files={FORMATS.map(([label, path]) => [
          label,
          `/datasets/${dataset.id}/${path}?version=${dataset.version}`,
        ])}
      />
      <UseInPython dataset={dataset} />
      {canEdit && isNewest && (
        <SmallButton leftSection={<IconPlus size={16} />} onClick={() => setDialog('add')}>
          Add items
        </SmallButton>
      )}
      {canEdit && (
        <IconButton label="Edit" onClick={() => setDialog('edit')}>
          <IconPencil size={16} />
        </IconButton>
      )}
      {canDelete && (
        <IconButton label="Delete" onClick={() => setDialog('delete')}>
          <IconTrash size={16} />
        </IconButton>
      )}
      {dialog === 'add' && <AppendItems dataset={dataset} onClose={close} />}
      {dialog === 'edit' && <EditDataset dataset={dataset} onClose={close} />}
      {dialog === 'delete' && (
        <DeleteDialog
          what="dataset"
          name={dataset.name}
          warning={`This deletes ${formatCountOf(dataset.item_count, 'item')} and all runs of this dataset.`}
          remove={() => dataOf(api.DELETE('/datasets/{id}', { params: { path: { id: dataset.id } } }))}
          list="/datasets"
          shownBy={['dataset', dataset.id]}
          onClose={close}
        />
      )}
    </>
  );
}
