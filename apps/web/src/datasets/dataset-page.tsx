import { Alert, Group, Spoiler, Stack } from '@mantine/core';
import { getMember, isJsonObject, type JsonObject } from '@svc/jsonl-v23/json';
import { useQuery } from '@tanstack/react-query';
import { LinkAnchor } from '../ui/buttons.tsx';
import { NameValues } from '../ui/layout/name-values.tsx';
import { Page, PageTabs, Part } from '../ui/layout/page.tsx';
import { isShown, onDemand, QueryState } from '../ui/query-state.tsx';
import { SourceBadge, sourceName } from '../ui/table/cells.tsx';
import { CopyText, JsonText } from '../ui/text/copy-action.tsx';
import { formatCount, formatCountOf, formatTime, plainText } from '../ui/text/formats.ts';
import { RichText } from '../ui/text/rich-text.tsx';
import { DatasetActions } from './actions/dataset-actions.tsx';
import { VersionSelect } from './choose-dataset.tsx';
import { datasetRoute, useChangeDataset } from './dataset-search.ts';
import type { Dataset } from './items/item-windows.ts';
import { ItemsTab } from './items/items-tab.tsx';
import { datasetQuery } from './queries.ts';

const RunsTab = onDemand(() => import('./runs-tab.tsx'));
const OverviewTab = onDemand(() => import('./overview/overview-tab.tsx'));
const HistoryTab = onDemand(() => import('./versions/history-tab.tsx'));
const DiffTab = onDemand(() => import('./diff/diff-view.tsx'));

export default function DatasetPage() {
  const { id } = datasetRoute.useParams();
  const { tab = 'items', version } = datasetRoute.useSearch();
  const change = useChangeDataset();
  const newest = useQuery(datasetQuery(id));
  const found = useQuery(datasetQuery(id, version));
  if (found.isPending) return <QueryState query={found} />;
  if (!isShown(found))
    return (
      <Page title="Dataset">
        <QueryState query={found} />
      </Page>
    );
  const dataset = found.data;
  const isNewest = newest.data === undefined || newest.data.version === dataset.version;
  return (
    <Page
      title={dataset.name}
      subtitle={<Facts dataset={dataset} />}
      actions={<DatasetActions dataset={dataset} isNewest={isNewest} />}
    >
      {dataset.description !== null && (
        <Spoiler maxHeight={84} maw={900} showLabel="More" hideLabel="Less" fz="sm" c="dimmed">
          <RichText text={dataset.description} />
        </Spoiler>
      )}
      {newest.data !== undefined && !isNewest && <OldVersion shown={dataset} newest={newest.data} />}
      <PageTabs
        open={tab}
        onOpen={(next) => change({ tab: next })}
        tabs={[
          ['items', 'Items', <ItemsTab key="items" dataset={dataset} isNewest={isNewest} />],
          ['runs', 'Runs', <RunsTab key="runs" dataset={dataset} />],
          ['overview', 'Overview', <OverviewTab key="overview" dataset={dataset} />],
          ['history', 'History', <HistoryTab key="history" newest={newest.data ?? dataset} />],
          ['provenance', 'Provenance', <ProvenanceTab key="provenance" dataset={dataset} />],
          ['diff', 'Compare with…', <DiffTab key="diff" dataset={dataset} />],
        ]}
      />
    </Page>
  );
}

function OldVersion({ shown, newest }: { readonly shown: Dataset; readonly newest: Dataset }) {
  return (
    <Alert color="yellow" p="xs" role="status">
      This is version {shown.version}. Exports and new runs are of this version; the newest one is{' '}
      <LinkAnchor to="/datasets/$id" params={{ id: shown.id }} size="sm" c="var(--mantine-color-text)">
        version {newest.version}
      </LinkAnchor>
      .
    </Alert>
  );
}

function VersionChoice({ dataset }: { readonly dataset: Dataset }) {
  const change = useChangeDataset();
  if (dataset.version_count === 1) return <span>version {dataset.version}</span>;
  return (
    <Group gap={6} wrap="nowrap">
      version
      <VersionSelect
        aria-label="Version"
        size="xs"
        w={130}
        id={dataset.id}
        value={String(dataset.version)}
        onChange={(version) => change({ item: undefined, version: version ?? undefined })}
      />
      of {formatCount(dataset.version_count)}
    </Group>
  );
}

function Facts({ dataset }: { readonly dataset: Dataset }) {
  const { id, handle, version_hash } = dataset;
  const copied = [
    ['hash', version_hash, 8, 'version hash'] as const,
    ['id', id, 8, 'dataset id'] as const,
    ...(handle === null ? [] : [['handle', handle, undefined, 'handle'] as const]),
  ];
  return (
    <Group gap={10} mt={4}>
      <SourceBadge schema={dataset.schema} />
      <VersionChoice dataset={dataset} />
      <span>{formatCountOf(dataset.item_count, 'item')}</span>
      <span>{formatCountOf(dataset.section_count, 'section')}</span>
      {dataset.asset_count > 0 && <span>{formatCountOf(dataset.asset_count, 'file')}</span>}
      {copied.map(([name, text, length, label]) => (
        <Group key={name} gap={4} wrap="nowrap">
          {name}
          <CopyText text={text} length={length} label={label} />
        </Group>
      ))}
    </Group>
  );
}

/** `trust_remote_code` as `Trust remote code`. */
const inWords = (name: string): string =>
  (name.slice(0, 1).toUpperCase() + name.slice(1)).replaceAll('_', ' ');

function ProvenanceTab({ dataset }: { readonly dataset: Dataset }) {
  const schema = dataset.schema as JsonObject;
  const config = getMember(schema, 'config');
  const facts: readonly (readonly [string, string])[] = [
    ['Source', sourceName(schema)],
    ...(isJsonObject(config)
      ? Object.entries(config)
          .filter(([, value]) => value !== null)
          .map(([name, value]) => [inWords(name), plainText(value, 400)] as const)
      : []),
    ['Version hash', dataset.version_hash],
    ['Added', formatTime(dataset.created_at)],
    ['Changed', formatTime(dataset.updated_at)],
  ];
  return (
    <Stack>
      <NameValues rows={facts} variant="vertical" />
      {dataset.notes !== null && (
        <Part title="Notes">
          <pre className="pre">{dataset.notes}</pre>
        </Part>
      )}
      <details>
        <summary>All of it, as JSON</summary>
        <JsonText value={schema} label="schema" />
      </details>
    </Stack>
  );
}
