import { Group, Progress, VisuallyHidden } from '@mantine/core';
import type { JsonValue } from '@svc/jsonl-v23/json';
import { useQuery } from '@tanstack/react-query';
import { Fragment } from 'react';
import { datasetQuery } from '../datasets/queries.ts';
import { LinkAnchor, RunLink } from '../ui/buttons.tsx';
import { Page, PageTabs } from '../ui/layout/page.tsx';
import { isShown, onDemand, QueryState } from '../ui/query-state.tsx';
import { StatusBadge } from '../ui/table/cells.tsx';
import { JsonText } from '../ui/text/copy-action.tsx';
import { formatCount, formatScore } from '../ui/text/formats.ts';
import { modelOf, nameOf, type Run, useRun } from './queries.ts';
import { FailureView } from './results/pane/failure-view.tsx';
import { ResultsTab } from './results/results-tab.tsx';
import { RunActions } from './run-actions.tsx';
import { factsOf, proofOf } from './run-facts.ts';
import { runRoute, useChangeRun } from './runs-search.ts';

const ChartsTab = onDemand(() => import('./charts/charts-tab.tsx'));
const LabelsTab = onDemand(() => import('./labels/labels-tab.tsx'));

export default function RunPage() {
  const { id } = runRoute.useParams();
  const { tab = 'results', sample } = runRoute.useSearch();
  const change = useChangeRun();
  const found = useRun(id);
  if (found.isPending) return <QueryState query={found} />;
  if (!isShown(found))
    return (
      <Page title="Run">
        <QueryState query={found} />
      </Page>
    );
  const run = found.data;
  if (sample !== undefined)
    return (
      <Page title="Blind sample">
        <ResultsTab run={run} />
      </Page>
    );
  return (
    <Page
      title={nameOf(run)}
      subtitle={
        <Group gap="sm">
          <StatusBadge status={run.status} />
          <DatasetLink run={run} />
          {modelOf(run) !== null && <span className="break">Model {modelOf(run)}</span>}
          {run.imported && <span>came with a package</span>}
          {run.created_by !== null && <span className="break">by {run.created_by}</span>}
          {run.source_run_id !== null && <RunLink id={run.source_run_id} label="Outputs of another run" />}
        </Group>
      }
      actions={<RunActions run={run} />}
      isCompact
    >
      {run.finished_at === null && (
        <Progress
          value={run.counts.total === 0 ? 100 : (100 * run.counts.done) / run.counts.total}
          animated
          aria-label="Progress of the run"
        />
      )}
      {run.error !== null && <FailureView failure={run.error} what="run" />}
      <dl className="fact-line">
        {factsOf(run).map(([name, value, note = '']) => (
          <div key={name} title={`${name}: ${value} ${note}`}>
            <dd className="numbers">{value}</dd>
            <dt>
              {name} {note}
            </dt>
          </div>
        ))}
      </dl>
      <VisuallyHidden role="status">
        {formatCount(run.counts.done)} of {formatCount(run.counts.total)} done
        {run.finished_at === null ? '' : `, score ${formatScore(run.scores.mean)}`}
      </VisuallyHidden>
      <PageTabs
        open={tab}
        onOpen={(next) => change({ tab: next })}
        tabs={[
          ['results', 'Results', <ResultsTab key="results" run={run} />],
          ['charts', 'Charts', <ChartsTab key="charts" run={run} />],
          ['labels', 'Labels', <LabelsTab key="labels" run={run} />],
          [
            'configuration',
            'Configuration',
            <Fragment key="configuration">
              {run.run_hash !== null && <JsonText value={proofOf(run)} label="proof" />}
              <JsonText value={run.config as unknown as JsonValue} label="configuration" />
            </Fragment>,
          ],
        ]}
      />
    </Page>
  );
}

function DatasetLink({ run }: { readonly run: Run }) {
  const dataset = useQuery(datasetQuery(run.dataset_id));
  return (
    <LinkAnchor
      to="/datasets/$id"
      params={{ id: run.dataset_id }}
      search={{
        version: dataset.data?.version === run.dataset_version ? undefined : String(run.dataset_version),
      }}
      size="sm"
      className="break"
    >
      {dataset.data?.name ?? `Dataset ${run.dataset_version_hash.slice(0, 8)}`}
      {dataset.data !== undefined && dataset.data.version_count > 1 && `, version ${run.dataset_version}`}
    </LinkAnchor>
  );
}
