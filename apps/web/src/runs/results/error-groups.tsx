import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { getMember, isJsonObject, parseJson } from '@svc/jsonl-v23/json';
import { useQuery } from '@tanstack/react-query';
import { linesOf } from '../../api/lines-of.ts';
import { formatCount } from '../../ui/text/formats.ts';
import { plainText } from '../../ui/text/pretty-json.ts';
import type { Run } from '../use-run.ts';

/** Where reading stops. */
const MAX_RESULTS = 200_000;
const SHOWN = 5;
const MAX_SEARCHED = 100;

/** The failed requests of a run by what was reported, the most frequent first; each leads to its results. */
export function ErrorGroups({
  run,
  onChoose,
}: {
  readonly run: Run;
  /** @param q a text that the errors of the group have */
  readonly onChoose: (q: string) => void;
}) {
  const { failed } = run.counts;
  const groups = useQuery({
    queryKey: ['errors', run.id, failed],
    queryFn: ({ signal }) => readGroups(run.id, signal),
    enabled: failed > 0,
    placeholderData: (before) => before,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (failed === 0 || groups.data === undefined || groups.data.length === 0) return null;
  const others = groups.data.slice(SHOWN).reduce((sum, [, count]) => sum + count, 0);
  return (
    <Stack gap={4} component="section" aria-label="Errors">
      {groups.data.slice(0, SHOWN).map(([message, count]) => (
        <Group key={message} gap="xs" wrap="nowrap">
          <Badge color="red" variant="light" miw="max-content">
            {formatCount(count)}
          </Badge>
          <Button
            variant="subtle"
            size="compact-xs"
            miw={0}
            onClick={() => onChoose(message.slice(0, MAX_SEARCHED))}
          >
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

async function readGroups(id: string, signal: AbortSignal): Promise<readonly (readonly [string, number])[]> {
  const counts = new Map<string, number>();
  let read = 0;
  for await (const line of linesOf(`/runs/${id}/results.jsonl?columns=error`, signal)) {
    read += 1;
    if (read > MAX_RESULTS) break;
    const row = parseJson(line);
    const error = isJsonObject(row) ? getMember(row, 'error') : undefined;
    if (error === undefined || !isJsonObject(error)) continue;
    const message = plainText(getMember(error, 'provider_message') ?? getMember(error, 'message'));
    counts.set(message, (counts.get(message) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a);
}
