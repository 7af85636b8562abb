import { Group, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { QueryState } from '../../ui/query-state.tsx';
import { useChangeSearch } from '../../ui/use-change-search.ts';
import type { DatasetSearch } from '../dataset-search.ts';
import { DatasetSelect } from '../dataset-select.tsx';
import type { Dataset } from '../items/item-windows.ts';
import { datasetQuery } from '../queries.ts';
import { VersionSelect } from '../versions/version-select.tsx';
import { DiffView } from './diff-view.tsx';

const route = getRouteApi('/datasets/$id');

/** What another dataset, or a version of it, adds, removes and changes. */
export default function DiffTab({ dataset }: { readonly dataset: Dataset }) {
  const { other, to } = route.useSearch();
  const navigate = route.useNavigate();
  const change = useChangeSearch<DatasetSearch>(route);
  const found = useQuery(datasetQuery(other ?? null, to));
  const chosen = found.data;
  return (
    <Stack>
      <Group align="flex-end">
        <DatasetSelect
          label="Other dataset"
          placeholder="Choose a dataset"
          w={480}
          maw="100%"
          value={other ?? null}
          without={dataset.id}
          onChange={(value) =>
            void navigate({
              resetScroll: false,
              search: ({ version }) => ({ version, tab: 'diff', other: value ?? undefined }),
            })
          }
        />
        <VersionSelect
          label="Its version"
          id={other ?? null}
          value={to ?? null}
          onChange={(value) => change({ to: value ?? undefined })}
        />
      </Group>
      {other !== undefined && <QueryState query={found} />}
      {chosen !== undefined && (
        <DiffView
          from={{ id: dataset.id, version: String(dataset.version) }}
          to={{ id: chosen.id, version: String(chosen.version) }}
        />
      )}
    </Stack>
  );
}
