import { Alert, Button, Group, MultiSelect, Select, Stack, Tabs, Text } from '@mantine/core';
import { useQueries, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { apiQuery } from '../api/api.ts';
import { ReportAction } from '../report/report-action.tsx';
import {
  nameOf,
  olderFirst,
  type Run,
  runQuery,
  scorersOf,
  useDatasetNames,
  useRecentRuns,
} from '../runs/queries.ts';
import { LinkAnchor, SmallButton } from '../ui/buttons.tsx';
import { Page, Part } from '../ui/layout/page.tsx';
import { isShown, onDemand, PageSkeleton, QueryState } from '../ui/query-state.tsx';
import { CopyAction } from '../ui/text/copy-action.tsx';
import { Dimmed } from '../ui/text/dimmed.ts';
import { formatCount, formatScore } from '../ui/text/formats.ts';
import { type CompareSearch, compareRoute, ONLY, useChangeCompare } from './compare-search.ts';
import { ConfigDifferences } from './config-differences.tsx';
import { DifferencesTable, ForestPlot } from './differences.tsx';
import { ItemsThatDiffer } from './items-that-differ.tsx';
import { summarySentence, verdictSentence } from './summary-sentence.ts';

const MAX_RUNS = 6;

/** What may be the id of a run: without the texts that a path takes for another one. */
const ID = /^[\w-]+$/;

export default function ComparePage() {
  const { runs: chosen } = compareRoute.useSearch();
  const navigate = compareRoute.useNavigate();
  const stated = [...new Set(chosen?.split(',').filter((id) => ID.test(id)))];
  const ids = stated.slice(0, MAX_RUNS);
  const recent = useRecentRuns();
  const found = useQueries({ queries: ids.map(runQuery) });
  const runs = found.flatMap(({ data }) => (data === undefined ? [] : [data]));
  const unread = found.find((one) => !isShown(one));
  const choices = [...runs, ...recent.filter(({ id }) => !ids.includes(id))];
  const chooser = (
    <MultiSelect
      label="Runs, the baseline first"
      placeholder={ids.length < 2 ? 'Choose two or more runs' : undefined}
      size="xs"
      flex="1 1 420px"
      searchable
      clearable
      maxValues={MAX_RUNS}
      value={ids}
      onChange={(values) =>
        void navigate({
          resetScroll: false,
          search: { runs: values.length === 0 ? undefined : values.join(',') },
        })
      }
      data={choices.map((run) => ({
        value: run.id,
        label: `${nameOf(run)} (${formatScore(run.scores.mean)}${run.name === null ? '' : `, ${run.id.slice(-4)}`})`,
      }))}
    />
  );
  const isReady = ids.length >= 2 && runs.length === ids.length;
  return (
    <Page title="Compare">
      {stated.length > MAX_RUNS && (
        <Dimmed>
          The first {MAX_RUNS} of {formatCount(stated.length)} runs are compared.
        </Dimmed>
      )}
      {isReady ? <Comparison runs={runs}>{chooser}</Comparison> : chooser}
      {unread !== undefined && <QueryState query={unread} rows={3} />}
      {ids.length < 2 && (
        <>
          <Dimmed>
            Runs can be compared when they share items, in any dataset: those with the same content, id or
            prompt.
          </Dimmed>
          <RecentPairs runs={recent} only={ids[0]} />
        </>
      )}
    </Page>
  );
}

const MAX_PAIRS = 8;

/** Links to runs that can be compared for sure: the newest two of each dataset, or those of the dataset of one. */
function RecentPairs({ runs, only }: { readonly runs: readonly Run[]; readonly only: string | undefined }) {
  const datasetOf = useDatasetNames(runs);
  const chosen = runs.find(({ id }) => id === only);
  const scored = runs.filter(({ scores }) => scores.mean !== null);
  const pairs =
    chosen !== undefined
      ? scored
          .filter((run) => run !== chosen && run.dataset_id === chosen.dataset_id)
          .map((run) => olderFirst([run, chosen]))
      : only !== undefined
        ? []
        : [...Map.groupBy(scored, ({ dataset_id }) => dataset_id).values()]
            .filter(({ length }) => length > 1)
            .map((of) => olderFirst(of.slice(0, 2)));
  if (pairs.length === 0) return null;
  return (
    <Part
      title={chosen === undefined ? 'The newest two runs of a dataset' : 'With another run of its dataset'}
    >
      <Stack component="ul" gap={6} className="plain-list">
        {pairs.slice(0, MAX_PAIRS).map((pair) => (
          <li key={pair.map(({ id }) => id).join()}>
            <LinkAnchor to="/compare" search={{ runs: pair.map(({ id }) => id).join(',') }} size="sm">
              {pair.map(nameOf).join(' and ')}
            </LinkAnchor>{' '}
            {pair[0] !== undefined && <Dimmed span>{datasetOf(pair[0])}</Dimmed>}
          </li>
        ))}
      </Stack>
    </Part>
  );
}

const RunsOfDataset = onDemand(
  () => import('./runs-of-dataset.tsx'),
  () => <PageSkeleton rows={2} />,
);

function Comparison(props: {
  readonly runs: readonly Run[];
  /** What chooses the runs: it follows the sentence. */
  readonly children: ReactNode;
}) {
  const { runs, children } = props;
  const search = compareRoute.useSearch();
  const { other: stated, only, by, scorer } = search;
  const changeSearch = useChangeCompare();
  const [first, ...others] = runs;
  const other = others.find(({ id }) => id === stated) ?? others[0];
  const compare = (id: string, which?: 'changed_output') =>
    apiQuery(['comparison', first?.id, id, by, scorer, which], '/runs/{id}/compare/{other_id}', {
      path: { id: first?.id ?? '', other_id: id },
      query: { limit: 1, pair_by: by, scorer, only: which },
    });
  const compared = useQueries({ queries: others.map(({ id }) => compare(id)) });
  const changed = useQuery({ ...compare(other?.id ?? '', 'changed_output'), enabled: other !== undefined });
  if (first === undefined || other === undefined) return children;
  const failed = compared.find((one) => one.error !== null && !isShown(one));
  const change = (changes: CompareSearch): void =>
    changeSearch({ item: undefined, page: undefined, ...changes });
  const rows = others.flatMap((run, at) => {
    const scores = compared[at]?.data;
    return scores === undefined ? [] : [{ run, scores }];
  });
  const scorers = scorersOf(first).filter((name) => others.every((run) => scorersOf(run).includes(name)));
  const shown = compared[others.indexOf(other)]?.data;
  const reason =
    compared.find(({ data }) => data !== undefined && data.reason !== null)?.data?.reason ?? null;
  if (failed !== undefined || reason !== null)
    return (
      <Stack gap="md">
        {children}
        {failed === undefined ? (
          <Alert color="orange" title="These runs share no scored items">
            <Text size="sm">{reason}</Text>
            <Group gap="xs" mt="sm">
              <SmallButton label="Pair by id" onClick={() => change({ by: 'id' })} />
              <SmallButton label="Pair by prompt" onClick={() => change({ by: 'prompt' })} />
            </Group>
          </Alert>
        ) : (
          <QueryState query={failed} />
        )}
        <ConfigDifferences runs={runs} />
      </Stack>
    );
  const swap = (): void => {
    const order = [other, ...others.map((run) => (run === other ? first : run))];
    change({ runs: order.map(({ id }) => id).join(','), other: first.id });
  };
  const sentence = shown === undefined ? null : summarySentence(shown);
  const counts = [shown?.meta.total_items, shown?.losses, shown?.wins, changed.data?.meta.total_items];
  return (
    <Stack gap="md">
      {shown === undefined ? (
        <PageSkeleton rows={1} />
      ) : (
        <div>
          <Text component="p" m={0} className="key-sentence break" dir="auto" role="status">
            {verdictSentence(shown, first, other) ?? 'Nothing to compare: no item has a score in both runs'}
          </Text>
          {sentence !== null && (
            <Group gap={4}>
              <Dimmed>{sentence}</Dimmed>
              <CopyAction text={`${nameOf(other)}: ${sentence}`} label="Copy the sentence" />
            </Group>
          )}
        </div>
      )}
      <Group gap="xs" align="end">
        {children}
        <SmallButton label="Swap" icon="arrowsExchange" onClick={swap} />
        <ReportAction runs={runs} how={{ by, scorer }}>
          {(label, save, isPending) => (
            <SmallButton label={label} icon="download" loading={isPending} onClick={save} />
          )}
        </ReportAction>
        {scorers.length > 0 && (
          <Select
            label="Scorer"
            size="xs"
            w={240}
            clearable
            placeholder="The main one of each run"
            value={scorer ?? null}
            onChange={(value) => change({ scorer: value ?? undefined })}
            data={scorers}
          />
        )}
        {by !== undefined && (
          <Button size="xs" variant="light" onClick={() => change({ by: undefined })}>
            Paired by {by}: pair by content
          </Button>
        )}
      </Group>
      <DifferencesTable first={first} rows={rows} shown={other.id} onShow={(id) => change({ other: id })} />
      <ConfigDifferences runs={runs} />
      <Tabs
        value={only ?? 'all'}
        keepMounted={false}
        onChange={(value) => change({ only: ONLY.find((one) => one === value) })}
      >
        <Tabs.List className="tabs-in-a-line" aria-label="Which differences">
          {(['all', ...ONLY] as const).map((which, at) => (
            <Tabs.Tab key={which} value={which}>
              {LABELS[which]} {counts[at] !== undefined && <Dimmed span>{formatCount(counts[at])}</Dimmed>}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={only ?? 'all'} pt="sm">
          <ItemsThatDiffer
            key={JSON.stringify([first.id, other.id, only, by, scorer])}
            runs={runs}
            first={first}
            other={other}
          />
        </Tabs.Panel>
      </Tabs>
      {rows.length > 0 && (
        <ForestPlot first={first} rows={rows} search={search} onSlice={(slice) => change({ slice })} />
      )}
      <RunsOfDataset runs={runs} against={search.against} onAgainst={(against) => change({ against })} />
    </Stack>
  );
}

const LABELS = {
  all: 'All differences',
  regressions: 'Worse',
  improvements: 'Better',
  changed_output: 'Other output',
} as const;
