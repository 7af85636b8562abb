import { Group, Stack, Text } from '@mantine/core';
import { getMember, type JsonObject } from '@svc/jsonl-v23/json';
import { useQuery } from '@tanstack/react-query';
import { get } from '../../api/api.ts';
import { LinkAnchor } from '../../ui/layout/links.tsx';
import { QueryState } from '../../ui/query-state.tsx';
import { plainText } from '../../ui/text/pretty-json.ts';
import { useCurrentItem } from './edit/item-editor.tsx';
import { type Dataset, type ListedItem, readItem } from './item-windows.ts';

/** Versions in which an item is looked for at most: the newest; earlier ones than the shown one come first. */
const MAX_LOOKED = 100;
const AT_A_TIME = 6;

interface Before {
  readonly listed: ListedItem;
  /** The version nearest to the shown one that has the item. */
  readonly version: number;
  /** The one after it. */
  readonly next: number;
}

/** Says what became of an item that the shown version does not have: what it is now, or since when it is gone. */
export function GoneItem({ dataset, hash }: { readonly dataset: Dataset; readonly hash: string }) {
  const before = useBefore(dataset, hash);
  const now = useCurrentItem(dataset, before.data?.listed);
  if (before.data === null)
    return (
      <Text p="md" size="sm">
        No version of the dataset that was looked at has this item.
      </Text>
    );
  if (before.data === undefined || now.data === undefined)
    return <QueryState query={before.data === undefined ? before : now} rows={3} />;
  const { listed, version, next } = before.data;
  const id = getMember((listed.item ?? {}) as JsonObject, 'id') ?? null;
  const linkTo = (text: string, search: { readonly item: string; readonly version: string }) => (
    <LinkAnchor to="/datasets/$id" params={{ id: dataset.id }} search={search} size="sm">
      {text}
    </LinkAnchor>
  );
  const shown = String(dataset.version);
  return (
    <Stack gap="xs" p="md" role="status">
      <Text size="sm">
        {version > dataset.version
          ? `This version does not have the item yet: version ${version} has it.`
          : now.data !== null
            ? `The item was changed in version ${next}.`
            : id === null
              ? `The item was changed or removed in version ${next}; it has no id that would tell which.`
              : `The item was removed in version ${next}.`}
      </Text>
      <Group gap="md">
        {now.data !== null &&
          linkTo(`${plainText(id, 60)} in version ${shown}`, { item: now.data.item_hash, version: shown })}
        {linkTo(`The item in version ${version}`, { item: hash, version: String(version) })}
      </Group>
    </Stack>
  );
}

/** The item in another version; null if none has it. */
function useBefore({ id, version }: Dataset, hash: string) {
  return useQuery({
    queryKey: ['item-before', { id, version }, hash],
    queryFn: async ({ signal }): Promise<Before | null> => {
      const listed = await get(
        '/datasets/{id}/versions',
        { path: { id }, query: { limit: MAX_LOOKED } },
        signal,
      );
      const versions = listed.data.map((one) => one.version);
      const nearest = [
        ...versions.filter((one) => one < version),
        ...versions.filter((one) => one > version).reverse(),
      ];
      for (let from = 0; from < nearest.length; from += AT_A_TIME) {
        const some = nearest.slice(from, from + AT_A_TIME);
        const found = await Promise.all(some.map((one) => readItem({ id, version: one }, hash, signal)));
        const at = found.findIndex((one) => one !== null);
        const [item, of] = [found[at], some[at]];
        if (item == null || of === undefined) continue;
        return { listed: item, version: of, next: versions[versions.indexOf(of) - 1] ?? of };
      }
      return null;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}
