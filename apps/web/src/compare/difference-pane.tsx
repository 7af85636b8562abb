import { SimpleGrid, Stack, Text } from '@mantine/core';
import type { ApiClient } from '@svc/client';
import type { JsonObject, JsonValue } from '@svc/jsonl-v23/json';
import { useQuery } from '@tanstack/react-query';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';
import { ItemViewer } from '../datasets/items/item-viewer.tsx';
import { nameOf, type Result, type Run } from '../runs/use-run.ts';
import { ErrorView } from '../ui/error-view.tsx';
import { PageSkeleton } from '../ui/layout/page-skeleton.tsx';
import { Part } from '../ui/layout/part.tsx';
import { DiffedText } from '../ui/text/diffed-text.tsx';
import { formatScore } from '../ui/text/formats.ts';
import { prettyJson } from '../ui/text/pretty-json.ts';

/** The outputs of runs for one item, side by side, with what differs from the first marked, and the item below. */
export function DifferencePane({
  runs,
  other,
  itemHash,
}: {
  readonly runs: readonly Run[];
  /** The run that the first one is compared with: its differences are marked in the output of the first. */
  readonly other: Run;
  readonly itemHash: string;
}) {
  const api = useApi();
  const ids = runs.map(({ id }) => id);
  const found = useQuery({
    queryKey: ['difference', ids, itemHash],
    queryFn: ({ signal }) => Promise.all(ids.map((id) => readResult(api, id, itemHash, signal))),
  });
  if (found.error !== null) return <ErrorView error={found.error} />;
  if (found.data === undefined) return <PageSkeleton rows={4} />;
  const results = found.data;
  const outputs = results.map(textOf);
  const [first = ''] = outputs;
  const holder = results.findIndex((result) => result?.item != null);
  const item = (results[holder]?.item ?? null) as JsonObject | null;
  return (
    <Stack gap={0}>
      <SimpleGrid cols={{ base: 1, md: Math.min(3, runs.length) }} p="md">
        {runs.map((run, at) => (
          <Part key={run.id} title={`${nameOf(run)}: ${formatScore(results[at]?.score)}`}>
            <DiffedText
              text={outputs[at] ?? ''}
              before={first}
              after={at === 0 ? (outputs[runs.indexOf(other)] ?? '') : (outputs[at] ?? '')}
              side={at === 0 ? 'removed' : 'added'}
            />
            {results[at] === undefined && (
              <Text size="sm" c="dimmed">
                This run has no result for the item.
              </Text>
            )}
          </Part>
        ))}
      </SimpleGrid>
      {item === null ? (
        <Text p="md" size="sm" c="dimmed">
          The item cannot be shown.
        </Text>
      ) : (
        <ItemViewer item={item} datasetId={runs[holder]?.dataset_id} hash={itemHash} />
      )}
    </Stack>
  );
}

async function readResult(
  api: ApiClient,
  id: string,
  itemHash: string,
  signal: AbortSignal,
): Promise<Result | undefined> {
  const query = { item_hash: itemHash, include: 'item' as const, limit: 1 };
  const { data } = await dataOf(api.GET('/runs/{id}/results', { params: { path: { id }, query }, signal }));
  return data[0];
}

function textOf(result: Result | undefined): string {
  if (result === undefined) return '';
  const { output } = result;
  return typeof output === 'string' ? output : prettyJson((output ?? null) as JsonValue);
}
