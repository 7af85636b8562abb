import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPencil, IconPlayerPlay, IconTrash } from '@tabler/icons-react';
import { useCan } from '../../session/session.tsx';
import { ExportMenu } from '../../ui/export-menu.tsx';
import { LinkButton } from '../../ui/layout/links.tsx';
import type { Dataset } from '../items/item-windows.ts';
import { DeleteDataset } from './delete-dataset.tsx';
import { EditDataset } from './edit-dataset.tsx';

const FORMATS = [
  ['Package (.pkg.zip)', 'export'],
  ['JSON Lines', 'items.jsonl'],
  ['CSV', 'items.csv'],
  ['Parquet', 'items.parquet'],
] as const;

/** What can be done with a dataset as a whole; what the session's role may not do is not offered. */
export function DatasetActions({ dataset }: { readonly dataset: Dataset }) {
  const [isEditing, editing] = useDisclosure(false);
  const [isDeleting, deleting] = useDisclosure(false);
  const canEdit = useCan('editor');
  const canDelete = useCan('admin');
  return (
    <>
      {canEdit && (
        <LinkButton
          size="xs"
          leftSection={<IconPlayerPlay size={16} />}
          to="/runs/new"
          search={{ dataset: dataset.id }}
        >
          New run
        </LinkButton>
      )}
      <ExportMenu files={FORMATS.map(([label, path]) => [label, `/datasets/${dataset.id}/${path}`])} />
      {canEdit && (
        <Button size="xs" variant="default" leftSection={<IconPencil size={16} />} onClick={editing.open}>
          Edit
        </Button>
      )}
      {canDelete && (
        <Button size="xs" variant="default" leftSection={<IconTrash size={16} />} onClick={deleting.open}>
          Delete
        </Button>
      )}
      {isEditing && <EditDataset dataset={dataset} onClose={editing.close} />}
      {isDeleting && <DeleteDataset dataset={dataset} onClose={deleting.close} />}
    </>
  );
}
