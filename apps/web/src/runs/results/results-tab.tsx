import { Button, Group, Menu, Stack, Text } from '@mantine/core';
import { IconColumns, IconRefresh } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { ErrorView } from '../../ui/error-view.tsx';
import { Panes } from '../../ui/layout/panes.tsx';
import { MenuButton } from '../../ui/menu-button.tsx';
import { formatCount } from '../../ui/text/formats.ts';
import { VirtualList } from '../../ui/virtual-list.tsx';
import type { RunSearch } from '../runs-search.ts';
import type { Run } from '../use-run.ts';
import { ErrorGroups } from './error-groups.tsx';
import { columnsOf, RESULT_COLUMNS, ResultCells } from './result-columns.tsx';
import { ResultFilters } from './result-filters.tsx';
import { ResultPane } from './result-pane.tsx';
import { useResults } from './use-results.ts';

const route = getRouteApi('/runs/$id');

/** The results of a run: errors by group, filters, a list of any length, and the open result with its item. */
export function ResultsTab({ run }: { readonly run: Run }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { found, filters, results, total, count, onRange, news } = useResults(run, search);
  const change = (changes: Partial<RunSearch>): void =>
    void navigate({ resetScroll: false, search: (before) => ({ ...before, ...changes }), replace: true });
  const filter = (changes: Partial<RunSearch>): void => change({ result: undefined, ...changes });
  const open = search.result === undefined ? undefined : results[search.result];
  const columns = columnsOf(search.columns);
  return (
    <Stack gap="sm">
      <ErrorGroups run={run} onChoose={(q) => filter({ status: 'failed', q })} />
      <Group gap="xs">
        <ResultFilters run={run} search={search} onChange={filter} />
        <ColumnChoice
          chosen={columns.map(({ key }) => key)}
          onChange={(keys) => change({ columns: keys.join(',') || undefined })}
        />
        <Text size="sm" c="dimmed" aria-live="polite">
          {formatCount(total)} {total === 1 ? 'result' : 'results'}
        </Text>
        {news > 0 && (
          <Button
            size="compact-xs"
            variant="light"
            leftSection={<IconRefresh size={14} />}
            onClick={() => void found.refetch()}
          >
            {formatCount(news)} new
          </Button>
        )}
      </Group>
      {found.error !== null && <ErrorView error={found.error} onRetry={() => void found.refetch()} />}
      <Panes
        label="Result"
        isWide
        isOpen={search.result !== undefined}
        onClose={() => filter({})}
        list={
          count === 0 && found.data !== undefined ? (
            <Text c="dimmed" p="md" size="sm">
              {run.counts.done === 0 ? 'No results yet.' : 'No result matches the filters.'}
            </Text>
          ) : (
            <VirtualList
              key={JSON.stringify(filters)}
              label="Results"
              count={count}
              total={total}
              selected={search.result}
              onSelect={(index) => change({ result: index })}
              onRange={onRange}
              columns={`18px ${columns.map(({ width }) => width).join(' ')}`}
              headers={['', ...columns.map(({ label }) => label)]}
              minWidth={columns.reduce((sum, { minWidth }) => sum + minWidth + 8, 50)}
              renderRow={(index) => {
                const result = results[index];
                return result === undefined ? (
                  <span>…</span>
                ) : (
                  <ResultCells result={result} columns={columns} />
                );
              }}
            />
          )
        }
        entry={open !== undefined && <ResultPane run={run} result={open} onClose={() => filter({})} />}
      />
    </Stack>
  );
}

function ColumnChoice({
  chosen,
  onChange,
}: {
  readonly chosen: readonly string[];
  readonly onChange: (keys: readonly string[]) => void;
}) {
  return (
    <MenuButton label="Columns" icon={<IconColumns size={16} />} isLasting>
      {RESULT_COLUMNS.map(({ key, label }) => (
        <Menu.CheckboxItem
          key={key}
          checked={chosen.includes(key)}
          onChange={(isChosen) => onChange(isChosen ? [...chosen, key] : chosen.filter((one) => one !== key))}
        >
          {label}
        </Menu.CheckboxItem>
      ))}
    </MenuButton>
  );
}
