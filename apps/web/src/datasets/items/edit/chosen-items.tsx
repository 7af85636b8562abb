import { Group, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { JsonObject } from '@svc/jsonl-v23/json';
import { useState } from 'react';
import { CopyItems } from '../../../runs/failure-actions.tsx';
import { SmallButton } from '../../../ui/buttons.tsx';
import { Fields } from '../../../ui/form/fields.tsx';
import { formatCountOf } from '../../../ui/text/formats.ts';
import type { Changed } from '../../queries.ts';
import { ChangeDialog, editItems } from '../../versions/change-dialog.tsx';
import { tagsOf } from '../item-reading.ts';
import { type Dataset, type ItemSummary, type ListedItem, readItem } from '../item-windows.ts';

export const itemKey = ({ hash, section }: Pick<ItemSummary, 'hash' | 'section'>): string =>
  `${hash} ${section}`;

const named = (key: string): { readonly item_hash: string; readonly section: string } => ({
  item_hash: key.slice(0, 64),
  section: key.slice(65),
});

const AT_ONCE = 20;

async function readItems(dataset: Dataset, keys: readonly string[]) {
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
}

export async function changeItems(
  dataset: Dataset,
  keys: readonly string[],
  edited: (item: JsonObject, key: string) => JsonObject,
  message: string,
): Promise<Changed> {
  const items = await readItems(dataset, keys);
  const edits = items.map(([key, item]) => ({ ...named(key), item: edited(item, key) }));
  return await editItems(dataset, edits, message);
}

export function ChosenItems(props: {
  readonly dataset: Dataset;
  /** As {@link itemKey} names them. */
  readonly chosen: readonly string[];
  readonly isNewest: boolean;
  readonly onDone: () => void;
}) {
  const { dataset, chosen, isNewest, onDone } = props;
  const [dialog, setDialog] = useState<'tag' | 'remove' | 'copy' | null>(null);
  const close = (): void => setDialog(null);
  const act = (name: 'tag' | 'remove' | 'copy', label: string) => (
    <SmallButton label={label} variant="light" onClick={() => setDialog(name)} />
  );
  return (
    <Group gap={6} role="group" aria-label="Chosen items">
      <Text size="sm" fw={600}>
        {formatCountOf(chosen.length, 'item')} chosen
      </Text>
      {isNewest && act('tag', 'Tag')}
      {isNewest && act('remove', 'Remove')}
      {act('copy', 'Copy to a dataset')}
      <SmallButton label="Choose none" variant="subtle" onClick={onDone} />
      {dialog === 'tag' && <TagItems {...{ dataset, chosen, onDone }} onClose={close} />}
      {dialog === 'remove' && (
        <RemoveItems dataset={dataset} items={chosen.map(named)} onDone={onDone} onClose={close} />
      )}
      {dialog === 'copy' && (
        <CopyItems
          items={async () => (await readItems(dataset, chosen)).map(([, item]) => item)}
          onClose={close}
        />
      )}
    </Group>
  );
}

function TagItems(props: {
  readonly dataset: Dataset;
  readonly chosen: readonly string[];
  readonly onDone: () => void;
  readonly onClose: () => void;
}) {
  const { dataset, chosen, onDone, onClose } = props;
  const form = useForm({ initialValues: { tags: [] as string[] } });
  const { tags } = form.values;
  const tagged = (item: JsonObject): JsonObject => ({
    ...item,
    tags: [...new Set([...tagsOf(item), ...tags])],
  });
  return (
    <ChangeDialog
      dataset={dataset}
      title={`Tag ${formatCountOf(chosen.length, 'item')}`}
      action="Tag"
      isReady={tags.length > 0}
      make={(message) => changeItems(dataset, chosen, tagged, message || `tagged ${tags.join(', ')}`)}
      onChanged={onDone}
      onClose={onClose}
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
        ]}
      />
    </ChangeDialog>
  );
}

export function RemoveItems(props: {
  readonly dataset: Dataset;
  readonly items: readonly Pick<ListedItem, 'item_hash' | 'section'>[];
  readonly position?: string | undefined;
  readonly onDone?: () => void;
  readonly onClose: () => void;
}) {
  const { dataset, items, position, onDone, onClose } = props;
  const [what, them] =
    items.length === 1 ? ['the item', 'it'] : [formatCountOf(items.length, 'item'), 'them'];
  const removed = items.map(({ item_hash, section }) => ({ item_hash, section, remove: true as const }));
  return (
    <ChangeDialog
      dataset={dataset}
      title={`Remove ${what}`}
      action="Remove"
      isDangerous
      make={(message) => editItems(dataset, removed, message)}
      position={position}
      onChanged={onDone}
      onClose={onClose}
    >
      <Text size="sm">
        The next version of the dataset does not have {them}. Older versions keep {them}.
      </Text>
    </ChangeDialog>
  );
}
