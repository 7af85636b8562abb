import { SimpleGrid, Stack, Text } from '@mantine/core';
import type { ApiClient } from '@svc/client';
import type { JsonObject, JsonValue } from '@svc/jsonl-v23/json';
import { useQuery } from '@tanstack/react-query';
import { type Change, diffWordsWithSpace } from 'diff';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';
import { exact } from '../api/exact.ts';
import { ItemViewer } from '../datasets/items/item-viewer.tsx';
import { nameOf, type Result, type Run } from '../runs/use-run.ts';
import { ErrorView } from '../ui/error-view.tsx';
import { PageSkeleton } from '../ui/layout/page-skeleton.tsx';
import { Part } from '../ui/layout/part.tsx';
import { formatScore } from '../ui/text/formats.ts';
import { prettyJson } from '../ui/text/pretty-json.ts';

/** Longer outputs are shown without marking what differs: finding it takes more than linear time. */
const MAX_DIFFED = 5_000;

/** The outputs of two runs for one item, side by side, with what differs marked, and the item below. */
export function DifferencePane({
  run,
  other,
  difference,
}: {
  readonly run: Run;
  readonly other: Run;
  readonly difference: { readonly item_hash: string; readonly score: number; readonly other_score: number };
}) {
  const api = useApi();
  const { item_hash } = difference;
  const found = useQuery({
    queryKey: ['difference', run.id, other.id, item_hash],
    queryFn: ({ signal }) =>
      Promise.all([run, other].map(({ id }) => readResult(api, id, item_hash, signal))),
    placeholderData: (before) => before,
  });
  if (found.error !== null) return <ErrorView error={found.error} />;
  if (found.data === undefined) return <PageSkeleton rows={4} />;
  const [mine, theirs] = found.data;
  const [before, after] = [textOf(mine), textOf(theirs)];
  const isMarked = before.length + after.length <= MAX_DIFFED;
  const pieces = isMarked ? diffWordsWithSpace(before, after) : null;
  const item = (mine?.item ?? null) as JsonObject | null;
  return (
    <Stack gap={0}>
      <SimpleGrid cols={{ base: 1, md: 2 }} p="md">
        <Part title={`${nameOf(run)}: ${formatScore(difference.score)}`}>
          <pre className="pre">{pieces === null ? before : <Marked pieces={pieces} side="removed" />}</pre>
        </Part>
        <Part title={`${nameOf(other)}: ${formatScore(difference.other_score)}`}>
          <pre className="pre">{pieces === null ? after : <Marked pieces={pieces} side="added" />}</pre>
        </Part>
      </SimpleGrid>
      {item === null ? (
        <Text p="md" size="sm" c="dimmed">
          The item cannot be shown.
        </Text>
      ) : (
        <ItemViewer item={item} hash={item_hash} />
      )}
    </Stack>
  );
}

/** One side of a difference: what both have, and what only this side has, marked. */
function Marked({
  pieces,
  side,
}: {
  readonly pieces: readonly Change[];
  readonly side: 'added' | 'removed';
}) {
  const other = side === 'added' ? 'removed' : 'added';
  let offset = 0;
  return pieces
    .filter((piece) => !piece[other])
    .map((piece) => {
      offset += piece.value.length;
      if (!piece[side]) return piece.value;
      const Tag = side === 'added' ? 'ins' : 'del';
      return (
        <Tag key={offset} className={`diff-${side}`}>
          {piece.value}
        </Tag>
      );
    });
}

async function readResult(
  api: ApiClient,
  id: string,
  itemHash: string,
  signal: AbortSignal,
): Promise<Result | undefined> {
  const query = { item_hash: itemHash, include: 'item' as const, limit: 1 };
  const text = await dataOf(
    api.GET('/runs/{id}/results', { params: { path: { id }, query }, parseAs: 'text', signal }),
  );
  return exact<{ readonly data: readonly Result[] }>(text).data[0];
}

function textOf(result: Result | undefined): string {
  if (result === undefined) return '';
  const { output } = result;
  return typeof output === 'string' ? output : prettyJson((output ?? null) as JsonValue);
}
