import { CloseButton, Group, Stack, Text } from '@mantine/core';
import { useMemo } from 'react';
import { LinkButton, SmallButton } from '../../ui/buttons.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Panes } from '../../ui/layout/panes.tsx';
import { ErrorView, QueryState } from '../../ui/query-state.tsx';
import { SavedViews } from '../../ui/saved-views.tsx';
import { ColumnsMenu } from '../../ui/table/columns-menu.tsx';
import { DataTable, MAX_ROWS } from '../../ui/table/data-table.tsx';
import type { ColumnsView } from '../../ui/table/view-columns.ts';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { formatCount, formatCountOf } from '../../ui/text/formats.ts';
import { useChosenRow } from '../../ui/use-windows.ts';
import { type Run, scorersOf } from '../queries.ts';
import { type RunSearch, runRoute, useChangeRun } from '../runs-search.ts';
import { FailureGroups } from './failure-groups.tsx';
import { resultKey } from './listed-result.tsx';
import { ResultPane } from './pane/result-pane.tsx';
import { BLIND_COLUMNS, defaultColumns, metaPointerOf, resultColumns } from './result-columns.tsx';
import { ResultFilters } from './result-filters.tsx';
import { useResult, useResults } from './use-results.ts';

export function ResultsTab({ run }: { readonly run: Run }) {
  const search = runRoute.useSearch();
  const isBlind = search.sample !== undefined;
  const changeSearch = useChangeRun();
  const results = useResults(run, search);
  const { filters, total, news } = results;
  const count = Math.min(total ?? 0, MAX_ROWS);
  const change = (changes: RunSearch | ColumnsView): void => changeSearch({ ...changes }, { replace: true });
  const filter = (changes: RunSearch): void => change({ result: undefined, ...changes });
  const { selected, select } = useChosenRow({
    keyAt: (index) => {
      const result = results.at(index);
      return result === undefined ? undefined : resultKey(result);
    },
    indexOf: (key) => results.rows().find(([, result]) => resultKey(result) === key)?.[0],
    chosen: search.result,
    // going back closes it
    onChoose: (result) => changeSearch({ result }, { replace: search.result !== undefined }),
  });
  const { found, open } = useResult(run, search, selected === undefined ? undefined : results.at(selected));
  const stepTo = (by: -1 | 1): (() => void) | undefined => {
    const to = (selected ?? -1) + by;
    return to < 0 || to >= count ? undefined : () => select(to);
  };
  const scorers = scorersOf(run);
  // a shown column stays where the results in memory lack its key
  const chosen = (search.columns ?? '').split(',').flatMap((key) => metaPointerOf(key) ?? []);
  const pointers = [...new Set([...chosen, ...results.rows().flatMap(([, { meta }]) => Object.keys(meta))])];
  const names = JSON.stringify([isBlind, scorers, search.scorer, pointers]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the columns depend on the names of scorers and metadata only
  const columns = useMemo(() => resultColumns(pointers, scorers, isBlind, search.scorer), [names]);
  const defaults = isBlind ? BLIND_COLUMNS : defaultColumns(scorers);
  const offered = columns.filter(({ isAlways }) => isAlways !== true);
  return (
    <Stack gap={6}>
      <Group gap={6}>
        {isBlind ? (
          <BlindSample run={run} seed={search.seed ?? 0} results={results} />
        ) : (
          <>
            <ResultFilters run={run} search={search} pointers={pointers} onChange={filter} />
            <FailureGroups run={run} onChoose={filter} />
          </>
        )}
        <ColumnsMenu columns={offered} defaults={defaults} view={search} onView={change} />
        {!isBlind && <SavedViews of="results" />}
        {!isBlind && (
          <Dimmed aria-live="polite">{total !== undefined && formatCountOf(total, 'result')}</Dimmed>
        )}
        {news > 0 && (
          <SmallButton
            label={`${formatCount(news)} new`}
            size="compact-xs"
            variant="light"
            leftSection={<Icon name="refresh" size={14} />}
            onClick={() => void results.refresh()}
          />
        )}
      </Group>
      {results.error !== null && <ErrorView error={results.error} onRetry={() => void results.refresh()} />}
      <Panes
        label="Result"
        isOpen={search.result !== undefined}
        onClose={() => filter({})}
        list={
          total === 0 ? (
            <Dimmed p="md">
              {run.counts.done === 0 ? 'No results yet.' : 'No result matches the filters.'}
            </Dimmed>
          ) : (
            <DataTable
              key={JSON.stringify(filters)}
              label="Results"
              columns={columns}
              defaults={defaults}
              view={search}
              onView={change}
              total={total ?? 0}
              at={results.at}
              onRange={results.onRange}
              keyOf={resultKey}
              open={selected ?? null}
              onOpen={select}
              fills
            />
          )
        }
        entry={
          open === undefined ? (
            <QueryState query={found} rows={4} />
          ) : open !== null ? (
            <ResultPane
              run={run}
              result={open}
              isBlind={isBlind}
              place={selected === undefined || total === undefined ? undefined : [selected + 1, total]}
              onClose={() => filter({})}
              onStep={{ previous: stepTo(-1), next: stepTo(1) }}
            />
          ) : (
            search.result !== undefined &&
            total !== undefined && (
              <Group gap="sm" p="md">
                <CloseButton className="wide-only" aria-label="Close the result" onClick={() => filter({})} />
                <Dimmed>The result that the address names is not here.</Dimmed>
              </Group>
            )
          )
        }
      />
    </Stack>
  );
}

function BlindSample(props: {
  readonly run: Run;
  readonly seed: number;
  readonly results: ReturnType<typeof useResults>;
}) {
  const { run, seed, results } = props;
  const { total } = results;
  const rows = results.rows();
  const labelled = rows.filter(([, { labels }]) => labels.length > 0).length;
  return (
    <Group gap="xs">
      <Text size="sm">Seed {seed}: the run and what it is like are hidden</Text>
      {total !== undefined && (
        <Text size="sm" fw={600} aria-live="polite">
          {/* of a long sample, only a part is in memory */}
          {rows.length < total ? formatCountOf(total, 'result') : `${labelled} of ${total} labelled`}
        </Text>
      )}
      <LinkButton
        label="End the blind sample"
        to="/runs/$id"
        params={{ id: run.id }}
        search={{ tab: 'labels' }}
        variant="default"
      />
    </Group>
  );
}
