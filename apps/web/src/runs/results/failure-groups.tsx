import { Button, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { apiQuery, get } from '../../api/api.ts';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { formatCount } from '../../ui/text/formats.ts';
import type { Run } from '../queries.ts';
import { RESULTS, type RunSearch } from '../runs-search.ts';

const SHOWN = 5;

export function FailureGroups(props: { readonly run: Run; readonly onChoose: (filters: RunSearch) => void }) {
  const { run, onChoose } = props;
  const { failed, unscored } = run.counts;
  const groups = useQuery({
    ...apiQuery(['errors', run.id, failed], '/runs/{id}/errors', { path: { id: run.id } }),
    enabled: failed > 0,
    placeholderData: (before) => before,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const outputs = useQuery({
    queryKey: ['outputs', run.id, run.finished_at],
    queryFn: ({ signal }) =>
      Promise.all(
        RESULTS.output.map(async (output) => {
          const params = { path: { id: run.id }, query: { output, limit: 1 } };
          const { meta } = await get('/runs/{id}/results', params, signal);
          return [`${output} output`, meta.total_items, { output }] as const;
        }),
      ),
    enabled: run.finished_at !== null && (unscored > 0 || run.scores.wrong > 0),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const found = groups.data?.data ?? [];
  const kinds = [...kindsOf(run), ...(outputs.data ?? []).filter(([, count]) => count > 0)];
  if (kinds.length === 0 && found.length === 0) return null;
  const counts = found.map(({ count }) => count);
  const others = sumOf(counts.slice(SHOWN));
  const isOverlapping =
    sumOf([...kinds.map(([, count]) => count), ...counts]) > run.scores.wrong + failed + unscored;
  const chips = [
    ...kinds,
    ...found
      .slice(0, SHOWN)
      .map(({ group, message, count }) => [message, count, { status: 'failed', error: group }] as const),
  ];
  const titles = [
    ...(others > 0 ? [`and ${formatCount(others)} with other errors`] : []),
    ...(isOverlapping ? ['A result can be in several groups.'] : []),
  ];
  return (
    <Group gap={4} component="section" aria-label="Errors" className="chips" title={titles.join(' ')}>
      {chips.map(([name, count, filters]) => (
        <Button
          key={name}
          variant="light"
          color="red"
          size="compact-xs"
          miw={0}
          onClick={() => onChoose(filters)}
        >
          <span className="numbers">{formatCount(count)}</span>&nbsp;
          <span dir="auto" className="ellipsis">
            {name}
          </span>
        </Button>
      ))}
      {others > 0 && <Dimmed size="xs">and {formatCount(others)} with other errors</Dimmed>}
    </Group>
  );
}

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);

/** Outputs that are not right, by what is known of them without reading them. */
function kindsOf({
  counts,
  scores,
  finish_reasons = {},
}: Run): readonly (readonly [name: string, count: number, filters: RunSearch])[] {
  const kinds: readonly (readonly [string, number, RunSearch])[] = [
    ['wrong', scores.wrong, { passed: false }],
    ['not scored', counts.unscored, { status: 'unscored' }],
    ...Object.entries(finish_reasons)
      .filter(([reason]) => !ENDED.has(reason))
      .map(([reason, count]) => [`ended by ${reason}`, count, { finish_reason: reason }] as const),
  ];
  return kinds.filter(([, count]) => count > 0);
}

/** What providers report of outputs that are whole. */
const ENDED: ReadonlySet<string> = new Set(['stop', 'end_turn', 'stop_sequence']);
