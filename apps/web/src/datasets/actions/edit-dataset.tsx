import { Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useApi } from '../../api/api-context.tsx';
import { dataOf } from '../../api/api-problem.ts';
import { EditDialog } from '../../ui/edit-dialog.tsx';
import type { Dataset } from '../items/item-windows.ts';

/** Changes the name, description and notes of a dataset. */
export function EditDataset({
  dataset,
  onClose,
}: {
  readonly dataset: Dataset;
  readonly onClose: () => void;
}) {
  const api = useApi();
  const [name, setName] = useState(dataset.name);
  const [description, setDescription] = useState(dataset.description ?? '');
  const [notes, setNotes] = useState(dataset.notes ?? '');
  const save = () =>
    dataOf(
      api.PATCH('/datasets/{id}', {
        params: { path: { id: dataset.id } },
        body: { name, description: description || null, notes: notes || null },
      }),
    );
  const lines = { autosize: true, minRows: 2, maxRows: 8 } as const;
  return (
    <EditDialog
      title="Edit the dataset"
      save={save}
      shownBy={[['dataset', dataset.id], ['datasets']]}
      onClose={onClose}
    >
      <TextInput
        label="Name"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        required
        maxLength={255}
      />
      <Textarea
        {...lines}
        label="Description"
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
      />
      <Textarea
        {...lines}
        label="Notes"
        value={notes}
        onChange={(event) => setNotes(event.currentTarget.value)}
      />
    </EditDialog>
  );
}
