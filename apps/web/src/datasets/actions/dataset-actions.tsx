import { Code, Popover, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, send } from '../../api/api.ts';
import { useCan } from '../../session/session.tsx';
import { ExportMenu, IconButton, LinkButton, SmallButton } from '../../ui/buttons.tsx';
import { type Field, Fields } from '../../ui/form/fields.tsx';
import { DeleteDialog, FormDialog, useSaved } from '../../ui/form/form-dialog.tsx';
import { CopyAction } from '../../ui/text/copy-action.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { formatCount, formatCountOf } from '../../ui/text/formats.ts';
import { datasetRoute } from '../dataset-search.ts';
import { AppendItems } from '../items/edit/append-items.tsx';
import type { Dataset } from '../items/item-windows.ts';

const FORMATS = [
  ['Package (.pkg.zip)', 'export'],
  ['JSON Lines', 'items.jsonl'],
  ['CSV', 'items.csv'],
  ['Parquet', 'items.parquet'],
] as const;

export function DatasetActions(props: {
  readonly dataset: Dataset;
  /** Whether this version can be changed; another one is named in all that is done with it. */
  readonly isNewest: boolean;
}) {
  const { dataset, isNewest } = props;
  const [dialog, setDialog] = useState<'add' | 'edit' | 'delete' | null>(null);
  const close = (): void => setDialog(null);
  const { section, type, tag, q } = datasetRoute.useSearch();
  const isFiltered = [section, type, tag, q].some((value) => value !== undefined);
  const canEdit = useCan('editor');
  const canDelete = useCan('admin');
  return (
    <>
      {canEdit && (
        <LinkButton
          label={isNewest ? 'New run' : `New run of version ${dataset.version}`}
          icon="playerPlay"
          to="/runs/new"
          search={{ dataset: dataset.id, version: isNewest ? undefined : String(dataset.version) }}
        />
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
      {canEdit && isNewest && <SmallButton label="Add items" icon="plus" onClick={() => setDialog('add')} />}
      {canEdit && <IconButton label="Edit" icon="pencil" onClick={() => setDialog('edit')} />}
      {canDelete && <IconButton label="Delete" icon="trash" onClick={() => setDialog('delete')} />}
      {dialog === 'add' && <AppendItems dataset={dataset} onClose={close} />}
      {dialog === 'edit' && <EditDataset dataset={dataset} onClose={close} />}
      {dialog === 'delete' && (
        <DeleteDialog
          what="dataset"
          id={dataset.id}
          name={dataset.name}
          warning={`This deletes ${formatCountOf(dataset.item_count, 'item')} and all runs of this dataset.`}
          onClose={close}
        />
      )}
    </>
  );
}

const FIELDS: readonly Field[] = [
  { name: 'name', label: 'Name', required: true, maxLength: 255, isFirst: true },
  {
    name: 'handle',
    label: 'Handle',
    description: 'A short name that programs can use in place of the id, such as gsm8k-test',
    maxLength: 96,
    pointer: '/handle',
  },
  { name: 'description', label: 'Description', kind: 'lines' },
  { name: 'notes', label: 'Notes', kind: 'lines' },
];

function EditDataset(props: { readonly dataset: Dataset; readonly onClose: () => void }) {
  const { onClose } = props;
  const { id, name, handle, description, notes } = props.dataset;
  const navigate = useNavigate();
  const saved = useSaved(['dataset'], ['datasets']);
  const form = useForm({
    initialValues: { name, handle: handle ?? '', description: description ?? '', notes: notes ?? '' },
  });
  const save = async (): Promise<void> => {
    const { values } = form;
    // only what was changed here: another person may have changed the rest
    const body = {
      ...(form.isDirty('name') && { name: values.name }),
      ...(form.isDirty('handle') && { handle: values.handle.trim() || null }),
      ...(form.isDirty('description') && { description: values.description || null }),
      ...(form.isDirty('notes') && { notes: values.notes || null }),
    };
    if (Object.keys(body).length === 0) return;
    const sending = send('patch', '/datasets/{id}', { path: { id } }, body);
    await sending;
    // the address may have the handle
    if (body.handle !== undefined) await navigate({ to: '/datasets/$id', params: { id }, replace: true });
    await saved(sending);
  };
  return (
    <FormDialog title="Edit the dataset" action="Save" submit={save} onClose={onClose}>
      <Fields form={form} fields={FIELDS} />
    </FormDialog>
  );
}

function UseInPython({ dataset: { id, handle, version_hash } }: { readonly dataset: Dataset }) {
  const path = { repo: handle ?? id, revision: version_hash.slice(0, 40) };
  const program = [
    `import os; os.environ["HF_ENDPOINT"] = ${JSON.stringify(window.location.origin)}`,
    'from datasets import load_dataset',
    `dataset = load_dataset(${JSON.stringify(`svc/${path.repo}`)}, revision="${path.revision}")`,
  ].join('\n');
  return (
    <Popover
      width={520}
      position="bottom-end"
      shadow="md"
      withinPortal
      trapFocus
      // The service makes the files of a version with the first request, and the library does not wait for large ones.
      onOpen={() => void api.GET('/api/datasets/svc/{repo}/revision/{revision}', { params: { path } })}
    >
      <Popover.Target>
        <SmallButton label="Use in Python" icon="brandPython" />
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs" pos="relative">
          <Code block>{program}</Code>
          <CopyAction text={program} label="Copy the program" isInCorner />
          <Dimmed>Where the service has keys, set the variable HF_TOKEN to yours.</Dimmed>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
