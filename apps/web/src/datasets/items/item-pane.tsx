import { Text } from '@mantine/core';
import type { JsonObject } from '@svc/jsonl-v23/json';
import { useQuery } from '@tanstack/react-query';
import { useApi } from '../../api/api-context.tsx';
import { ErrorView } from '../../ui/error-view.tsx';
import { PageSkeleton } from '../../ui/layout/page-skeleton.tsx';
import { ItemViewer } from './item-viewer.tsx';
import { type Dataset, readItem } from './item-windows.ts';

/** Reads the item at a position and shows it. */
export function ItemPane({ dataset, position }: { readonly dataset: Dataset; readonly position: string }) {
  const api = useApi();
  const found = useQuery({
    queryKey: ['item', dataset.id, position],
    queryFn: ({ signal }) => readItem(api, dataset.id, position, signal),
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: (before) => before,
  });
  if (found.error !== null) return <ErrorView error={found.error} onRetry={() => void found.refetch()} />;
  if (found.isPending) return <PageSkeleton rows={4} />;
  if (found.data === null)
    return (
      <Text c="dimmed" p="md" size="sm">
        The dataset has no item at this position.
      </Text>
    );
  const { item, section, order_index, item_hash, error } = found.data;
  if (item === null)
    return (
      <Text p="md" size="sm">
        Item {order_index} of {section} cannot be shown: {error?.message}
      </Text>
    );
  return (
    <ItemViewer
      item={item as JsonObject}
      datasetId={dataset.id}
      section={section}
      orderIndex={order_index}
      hash={item_hash}
    />
  );
}
