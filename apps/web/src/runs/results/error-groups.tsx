import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useApi } from '../../api/api-context.tsx';
import { dataOf } from '../../api/api-problem.ts';
import { formatCount } from '../../ui/text/formats.ts';
import type { Run } from '../use-run.ts';

const SHOWN = 5;

/** The failed requests of a run by what was reported, the most frequent first; each leads to its results. */
export function ErrorGroups({
  run,
  onChoose,
}: {
  readonly run: Run;
  /** @param error name of the group */
  readonly onChoose: (error: string) => void;
}) {
  const api = useApi();
  const { failed } = run.counts;
  const groups = useQuery({
    queryKey: ['errors', run.id, failed],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/runs/{id}/errors', { params: { path: { id: run.id } }, signal })),
    enabled: failed > 0,
    placeholderData: (before) => before,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const found = groups.data?.data ?? [];
  if (failed === 0 || found.length === 0) return null;
  const others = found.slice(SHOWN).reduce((sum, { count }) => sum + count, 0);
  return (
    <Stack gap={4} component="section" aria-label="Errors">
      {found.slice(0, SHOWN).map(({ group, message, count }) => (
        <Group key={group} gap="xs" wrap="nowrap">
          <Badge color="red" variant="light" miw="max-content">
            {formatCount(count)}
          </Badge>
          <Button variant="subtle" size="compact-xs" miw={0} onClick={() => onChoose(group)}>
            <span dir="auto" className="ellipsis">
              {message}
            </span>
          </Button>
        </Group>
      ))}
      {others > 0 && (
        <Text size="xs" c="dimmed">
          and {formatCount(others)} with other errors
        </Text>
      )}
    </Stack>
  );
}
