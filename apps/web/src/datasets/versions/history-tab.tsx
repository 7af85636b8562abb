import { Group, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { send } from '../../api/send.ts';
import { useCan } from '../../session/session.tsx';
import { Fields } from '../../ui/form/fields.tsx';
import { FormDialog } from '../../ui/form/form-dialog.tsx';
import { IconArrowLeft } from '../../ui/icons.tsx';
import { isShown } from '../../ui/is-shown.ts';
import { MoreButton } from '../../ui/more-button.tsx';
import { QueryState } from '../../ui/query-state.tsx';
import { SmallButton } from '../../ui/small-button.tsx';
import { DataTable } from '../../ui/table/data-table.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { formatCount } from '../../ui/text/formats.ts';
import { useChangeSearch } from '../../ui/use-change-search.ts';
import type { DatasetSearch } from '../dataset-search.ts';
import { DiffView } from '../diff/diff-view.tsx';
import type { Dataset } from '../items/item-windows.ts';
import { MESSAGE_FIELD, useChange, type Version, versionsQuery } from '../queries.ts';
import { ChangeError } from './change-error.tsx';
import { DeleteVersion } from './delete-version.tsx';
import { versionColumns } from './version-columns.tsx';
import { VersionSelect } from './version-select.tsx';

const route = getRouteApi('/datasets/$id');

/** The versions of a dataset, or what distinguishes two of them. */
export default function HistoryTab({ newest }: { readonly newest: Dataset }) {
  const { from, to } = route.useSearch();
  return from === undefined ? (
    <History newest={newest} />
  ) : (
    <TwoVersions newest={newest} from={from} to={to} />
  );
}

function History({ newest }: { readonly newest: Dataset }) {
  const found = useInfiniteQuery(versionsQuery(newest.id));
  const change = useChangeSearch<DatasetSearch>(route);
  const canEdit = useCan('editor');
  const canDelete = useCan('admin');
  const [asked, setAsked] = useState<{ readonly what: 'restore' | 'delete'; readonly version: Version }>();
  const [chosen, setChosen] = useState<readonly number[]>([]);
  if (!isShown(found)) return <QueryState query={found} rows={3} />;
  const versions = found.data.pages.flatMap(({ data }) => data);
  const compare = (from: number, to: number): void =>
    change({ from: String(from), to: String(to), only: undefined });
  const [first = 0, second = 0] = chosen.toSorted((a, b) => a - b);
  return (
    <Stack gap="sm">
      {versions.length > 1 && (
        <Group gap="sm">
          <SmallButton disabled={chosen.length !== 2} onClick={() => compare(first, second)}>
            Compare two versions
          </SmallButton>
        </Group>
      )}
      <DataTable
        label="Table of versions"
        columns={versionColumns({
          id: newest.id,
          versions,
          newest: newest.version,
          onCompare: compare,
          onRestore: canEdit ? (version) => setAsked({ what: 'restore', version }) : undefined,
          onDelete: canDelete ? (version) => setAsked({ what: 'delete', version }) : undefined,
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
      {asked?.what === 'restore' && (
        <RestoreVersion newest={newest} version={asked.version} onClose={() => setAsked(undefined)} />
      )}
      {asked?.what === 'delete' && (
        <DeleteVersion id={newest.id} version={asked.version} onClose={() => setAsked(undefined)} />
      )}
    </Stack>
  );
}

function TwoVersions({
  newest,
  from,
  to,
}: {
  readonly newest: Dataset;
  readonly from: string;
  readonly to: string | undefined;
}) {
  const change = useChangeSearch<DatasetSearch>(route);
  const newestNumber = String(newest.version);
  return (
    <Stack gap="sm">
      <Group gap="sm" align="flex-end">
        <SmallButton
          leftSection={<IconArrowLeft size={14} />}
          onClick={() => change({ from: undefined, to: undefined })}
        >
          All versions
        </SmallButton>
        <VersionSelect
          label="From version"
          size="xs"
          w={130}
          id={newest.id}
          value={from}
          onChange={(version) => change({ from: version ?? newestNumber })}
        />
        <VersionSelect
          label="To version"
          size="xs"
          w={130}
          id={newest.id}
          value={to ?? null}
          onChange={(version) => change({ to: version ?? newestNumber })}
        />
        {from === to && <Dimmed>Both are the same version.</Dimmed>}
      </Group>
      <DiffView from={{ id: newest.id, version: from }} to={{ id: newest.id, version: to ?? newestNumber }} />
    </Stack>
  );
}

/** Makes the content of an old version the newest one, after a confirmation. */
function RestoreVersion({
  newest,
  version,
  onClose,
}: {
  readonly newest: Dataset;
  readonly version: Version;
  readonly onClose: () => void;
}) {
  const change = useChange();
  const form = useForm({ initialValues: { message: `Restore version ${version.version}` } });
  const restore = (): Promise<void> =>
    change(
      send(
        'post',
        '/datasets/{id}/restore',
        { path: { id: newest.id }, header: { 'If-Match': `"${newest.version_hash}"` } },
        { version: version.version, message: form.values.message || null },
      ),
    );
  return (
    <FormDialog
      title={`Restore version ${version.version}`}
      action="Restore"
      submit={restore}
      onClose={onClose}
      showError={(error) => <ChangeError dataset={newest} error={error} />}
    >
      <Text size="sm">
        Its {formatCount(version.item_count)} items become the next version of the dataset. Version{' '}
        {newest.version} stays in the history.
      </Text>
      <Fields form={form} fields={[MESSAGE_FIELD]} />
    </FormDialog>
  );
}
