import { Button, Group, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { JsonObject } from '@svc/jsonl-v23/json';
import { useState } from 'react';
import { send } from '../../../api/send.ts';
import { CopyItems } from '../../../runs/failure-actions.tsx';
import { Fields } from '../../../ui/form/fields.tsx';
import { FormDialog } from '../../../ui/form/form-dialog.tsx';
import { formatCountOf } from '../../../ui/text/formats.ts';
import { MESSAGE_FIELD, useChange } from '../../queries.ts';
import { ChangeError } from '../../versions/change-error.tsx';
import { tagsOf } from '../item-reading.ts';
import { type Dataset, type ItemSummary, readItem } from '../item-windows.ts';
import { RemoveItems } from './remove-item.tsx';

/** Names an item of a list: its hash and section. */
export const itemKey = ({ hash, section }: Pick<ItemSummary, 'hash' | 'section'>): string =>
  `${hash} ${section}`;

const named = (key: string): { readonly item_hash: string; readonly section: string } => ({
  item_hash: key.slice(0, 64),
  section: key.slice(65),
});

/** Items that are read at the same time. */
const AT_ONCE = 20;

/** Reads and changes whole items, as the next version of a dataset. */
export function useItemChanges(dataset: Dataset) {
  const change = useChange();
  const read = async (keys: readonly string[]): Promise<readonly (readonly [string, JsonObject])[]> => {
    const found: (readonly [string, JsonObject])[] = [];
    for (let from = 0; from < keys.length; from += AT_ONCE) {
      const some = keys.slice(from, from + AT_ONCE).map(async (key) => {
        const listed = await readItem(dataset, named(key).item_hash, undefined);
        if (listed?.item == null) throw new Error('An item was changed or removed in the meantime.');
        return [key, listed.item as JsonObject] as const;
      });
      found.push(...(await Promise.all(some)));
    }
    return found;
  };
  const edit = async (
    keys: readonly string[],
    edited: (item: JsonObject, key: string) => JsonObject,
    message: string,
  ): Promise<void> => {
    const edits = (await read(keys)).map(([key, item]) => ({ ...named(key), item: edited(item, key) }));
    await change(
      send(
        'patch',
        '/datasets/{id}/items',
        { path: { id: dataset.id }, header: { 'If-Match': `"${dataset.version_hash}"` } },
        { edits, message: message || null },
      ),
    );
  };
  return { read, edit };
}

/** What can be done with the items that are chosen in a list. */
export function ChosenItems({
  dataset,
  chosen,
  isNewest,
  onDone,
}: {
  readonly dataset: Dataset;
  /** As {@link itemKey} names them. */
  readonly chosen: readonly string[];
  /** Whether this version can be changed. */
  readonly isNewest: boolean;
  readonly onDone: () => void;
}) {
  const { read } = useItemChanges(dataset);
  const [dialog, setDialog] = useState<'tag' | 'remove' | 'copy' | null>(null);
  const close = (): void => setDialog(null);
  const act = (name: 'tag' | 'remove' | 'copy', label: string) => (
    <Button size="xs" variant="light" onClick={() => setDialog(name)}>
      {label}
    </Button>
  );
  return (
    <Group gap={6} role="group" aria-label="Chosen items">
      <Text size="sm" fw={600}>
        {formatCountOf(chosen.length, 'item')} chosen
      </Text>
      {isNewest && act('tag', 'Tag')}
      {isNewest && act('remove', 'Remove')}
      {act('copy', 'Copy to a dataset')}
      <Button size="xs" variant="subtle" onClick={onDone}>
        Choose none
      </Button>
      {dialog === 'tag' && <TagItems {...{ dataset, chosen, onDone }} onClose={close} />}
      {dialog === 'remove' && <RemoveItems dataset={dataset} items={chosen.map(named)} onClose={close} />}
      {dialog === 'copy' && (
        <CopyItems items={async () => (await read(chosen)).map(([, item]) => item)} onClose={close} />
      )}
    </Group>
  );
}

interface DialogProps {
  readonly dataset: Dataset;
  readonly chosen: readonly string[];
  readonly onDone: () => void;
  readonly onClose: () => void;
}

function TagItems({ dataset, chosen, onDone, onClose }: DialogProps) {
  const { edit } = useItemChanges(dataset);
  const form = useForm({ initialValues: { tags: [] as string[], message: '' } });
  const { tags, message } = form.values;
  const save = async (): Promise<void> => {
    await edit(
      chosen,
      (item) => ({ ...item, tags: [...new Set([...tagsOf(item), ...tags])] }),
      message || `tagged ${tags.join(', ')}`,
    );
    onDone();
  };
  return (
    <FormDialog
      title={`Tag ${formatCountOf(chosen.length, 'item')}`}
      action="Tag"
      isReady={tags.length > 0}
      submit={save}
      onClose={onClose}
      showError={(error) => <ChangeError dataset={dataset} error={error} />}
    >
      <Fields
        form={form}
        fields={[
          {
            name: 'tags',
            label: 'Tags',
            kind: 'tags',
            description: 'Added to those they have',
            isFirst: true,
          },
          MESSAGE_FIELD,
        ]}
      />
    </FormDialog>
  );
}
