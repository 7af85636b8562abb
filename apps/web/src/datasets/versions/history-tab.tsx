import { Badge, Group, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { send } from '../../api/api.ts';
import { useCan } from '../../session/session.tsx';
import { LinkAnchor, SmallButton } from '../../ui/buttons.tsx';
import { Fields } from '../../ui/form/fields.tsx';
import { FormDialog } from '../../ui/form/form-dialog.tsx';
import { Icon } from '../../ui/icons.tsx';
import { useNotify } from '../../ui/layout/notices.tsx';
import { MoreButton } from '../../ui/layout/pager.tsx';
import { isShown, QueryState } from '../../ui/query-state.tsx';
import { ages, numbers, sourceDetails, texts } from '../../ui/table/cells.tsx';
import { DataTable } from '../../ui/table/data-table.tsx';
import type { Column } from '../../ui/table/table-model.ts';
import { CopyText } from '../../ui/text/copy-action.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { formatCount } from '../../ui/text/formats.ts';
import { VersionSelect } from '../choose-dataset.tsx';
import { datasetRoute, useChangeDataset } from '../dataset-search.ts';
import { DiffView } from '../diff/diff-view.tsx';
import type { Dataset } from '../items/item-windows.ts';
import { changeText, useRefresh, type Version, versionsQuery } from '../queries.ts';
import { ChangeDialog, onlyOn } from './change-dialog.tsx';

export default function HistoryTab({ newest }: { readonly newest: Dataset }) {
  const { from, to } = datasetRoute.useSearch();
  return from === undefined ? (
    <History newest={newest} />
  ) : (
    <TwoVersions newest={newest} from={from} to={to} />
  );
}

const ACTS = ['restore', 'delete'] as const;
type Act = (typeof ACTS)[number];
const ACT_NAMES: Readonly<Record<Act, string>> = { restore: 'Restore', delete: 'Delete' };

function History({ newest }: { readonly newest: Dataset }) {
  const found = useInfiniteQuery(versionsQuery(newest.id));
  const change = useChangeDataset();
  const can = { restore: useCan('editor'), delete: useCan('admin') };
  const [asked, setAsked] = useState<{ readonly act: Act; readonly version: Version }>();
  const [chosen, setChosen] = useState<readonly number[]>([]);
  if (!isShown(found)) return <QueryState query={found} rows={3} />;
  const versions = found.data.pages.flatMap(({ data }) => data);
  const compare = (from: number, to: number): void =>
    change({ from: String(from), to: String(to), only: undefined });
  const restore = ({ version }: Version, message: string) =>
    send('post', '/datasets/{id}/restore', onlyOn(newest), { version, message: message || null });
  const [first = 0, second = 0] = chosen.toSorted((a, b) => a - b);
  return (
    <Stack gap="sm">
      {versions.length > 1 && (
        <Group gap="sm">
          <SmallButton
            label="Compare two versions"
            disabled={chosen.length !== 2}
            onClick={() => compare(first, second)}
          />
        </Group>
      )}
      <DataTable
        label="Table of versions"
        columns={versionColumns({
          ...{ newest, versions, acts: ACTS.filter((act) => can[act]) },
          onCompare: compare,
          onAct: (act, version) => setAsked({ act, version }),
        })}
        rows={versions}
        keyOf={({ version }) => String(version)}
        nameOf={({ version }) => `version ${version}`}
        {...(versions.length > 1 && {
          chosen: chosen.map(String),
          // two are compared: the last ones
          onChoose: (keys: readonly string[]) => setChosen(keys.slice(-2).map(Number)),
        })}
        onOpen={(_, row) => row && change({ tab: 'items', version: String(row.version) })}
        isTall
        fills
      />
      <MoreButton query={found}>Older versions</MoreButton>
      {asked?.act === 'restore' && (
        <ChangeDialog
          dataset={newest}
          title={`Restore version ${asked.version.version}`}
          action="Restore"
          message={`Restore version ${asked.version.version}`}
          make={(message) => restore(asked.version, message)}
          onClose={() => setAsked(undefined)}
        >
          <Text size="sm">
            Its {formatCount(asked.version.item_count)} items become the next version of the dataset. Version{' '}
            {newest.version} stays in the history.
          </Text>
        </ChangeDialog>
      )}
      {asked?.act === 'delete' && (
        <DeleteVersion id={newest.id} version={asked.version} onClose={() => setAsked(undefined)} />
      )}
    </Stack>
  );
}

function TwoVersions(props: {
  readonly newest: Dataset;
  readonly from: string;
  readonly to: string | undefined;
}) {
  const { newest, from, to } = props;
  const change = useChangeDataset();
  const newestNumber = String(newest.version);
  return (
    <Stack gap="sm">
      <Group gap="sm" align="flex-end">
        <SmallButton
          label="All versions"
          leftSection={<Icon name="arrowLeft" size={14} />}
          onClick={() => change({ from: undefined, to: undefined })}
        />
        {(['from', 'to'] as const).map((end) => (
          <VersionSelect
            key={end}
            label={end === 'from' ? 'From version' : 'To version'}
            size="xs"
            w={130}
            id={newest.id}
            value={(end === 'from' ? from : to) ?? null}
            onChange={(version) => change({ [end]: version ?? newestNumber })}
          />
        ))}
        {from === to && <Dimmed>Both are the same version.</Dimmed>}
      </Group>
      <DiffView from={{ id: newest.id, version: from }} to={{ id: newest.id, version: to ?? newestNumber }} />
    </Stack>
  );
}

function DeleteVersion(props: {
  readonly id: string;
  readonly version: Version;
  readonly onClose: () => void;
}) {
  const { id, onClose } = props;
  const { version, run_count } = props.version;
  const notify = useNotify();
  const refresh = useRefresh();
  const form = useForm({ initialValues: { withRuns: false } });
  const remove = async (): Promise<void> => {
    const path = { id, version: String(version) };
    const query = form.values.withRuns ? { runs: 'delete' as const } : {};
    await send('delete', '/datasets/{id}/versions/{version}', { path, query });
    await refresh();
    notify(`Deleted version ${version}.`);
  };
  return (
    <FormDialog
      title={`Delete version ${version}`}
      action="Delete for good"
      isDangerous
      isReady={run_count === 0 || form.values.withRuns}
      submit={remove}
      onClose={onClose}
    >
      <Text size="sm">
        What only this version holds is removed from the database. The other versions stay. It cannot be
        undone.
      </Text>
      {run_count > 0 && (
        <Fields
          form={form}
          fields={[
            {
              name: 'withRuns',
              kind: 'checkbox',
              label: `Delete its ${run_count === 1 ? 'run' : `${formatCount(run_count)} runs`} too`,
            },
          ]}
        />
      )}
    </FormDialog>
  );
}

const SOURCES: Readonly<Record<Version['source'], string>> = {
  upload: 'uploaded',
  hub: 'imported from the hub',
  append: 'items added',
  upsert: 'items added or replaced',
  edit: 'items edited',
  restore: 'restored',
  replace: 'replaced as a whole',
};

function versionColumns(of: {
  readonly newest: Dataset;
  /** Newest first. */
  readonly versions: readonly Version[];
  readonly acts: readonly Act[];
  readonly onCompare: (from: number, to: number) => void;
  readonly onAct: (act: Act, version: Version) => void;
}): readonly Column<Version>[] {
  const { versions, acts, onCompare, onAct } = of;
  const { id, version: newest } = of.newest;
  const before = new Map(versions.map(({ version }, at) => [version, versions[at + 1]?.version]));
  return [
    {
      label: 'Version',
      size: 100,
      cell: ({ version }) => (
        <Group gap={6} wrap="nowrap">
          <LinkAnchor
            to="/datasets/$id"
            params={{ id }}
            search={{ version: version === newest ? undefined : String(version) }}
            size="sm"
            aria-label={`Items of version ${version}`}
          >
            {version}
          </LinkAnchor>
          {version === newest && (
            <Badge size="sm" variant="light" className="whole">
              newest
            </Badge>
          )}
        </Group>
      ),
    },
    texts(
      'What was done',
      ({ message, source, schema }) => (
        <>
          <Text size="sm" dir="auto">
            {message ?? SOURCES[source]}
          </Text>
          {message !== null && <Dimmed size="xs">{SOURCES[source]}</Dimmed>}
          <Dimmed size="xs">{sourceDetails(schema)}</Dimmed>
        </>
      ),
      { size: 140, share: 3 },
    ),
    texts(
      'Changes',
      ({ version, change }) => {
        const previous = before.get(version);
        return previous === undefined ? (
          <Dimmed>{version === 1 ? 'the first version' : changeText(change)}</Dimmed>
        ) : (
          <SmallButton
            label={changeText(change)}
            size="compact-sm"
            variant="subtle"
            px={0}
            aria-label={`Changes of version ${version}: ${changeText(change)}`}
            onClick={() => onCompare(previous, version)}
          />
        );
      },
      { size: 120, share: 1 },
    ),
    numbers('Items', ({ item_count }) => formatCount(item_count), { size: 80, isOptional: true }),
    numbers('Runs', ({ run_count }) => (run_count === 0 ? '–' : formatCount(run_count)), {
      size: 60,
      isOptional: true,
    }),
    { label: 'By', size: 90, isOptional: true, cell: ({ author }) => author ?? '–' },
    ages('When', ({ created_at }) => created_at),
    {
      label: 'Hash',
      size: 110,
      isOptional: true,
      cell: ({ version, version_hash }) => (
        <CopyText text={version_hash} length={8} label={`hash of version ${version}`} />
      ),
    },
    ...(acts.length === 0
      ? []
      : [
          {
            label: 'Actions',
            size: 140,
            cell: (version: Version) =>
              version.version !== newest && (
                <Group gap={4} wrap="nowrap">
                  {acts.map((act) => (
                    <SmallButton
                      key={act}
                      label={ACT_NAMES[act]}
                      size="compact-xs"
                      aria-label={`${ACT_NAMES[act]} version ${version.version}`}
                      onClick={() => onAct(act, version)}
                    />
                  ))}
                </Group>
              ),
          },
        ]),
  ];
}
