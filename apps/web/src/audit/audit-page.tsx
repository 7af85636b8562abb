import { Group, Text, TextInput } from '@mantine/core';
import { REQUEST_VALUES, type ResponseOf } from '@svc/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { apiQuery } from '../api/api.ts';
import { ExportMenu, LinkAnchor } from '../ui/buttons.tsx';
import { ChosenFilter, TypedFilter } from '../ui/filters.tsx';
import { Page } from '../ui/layout/page.tsx';
import { PagedTable } from '../ui/layout/pager.tsx';
import { searchText } from '../ui/search-params.ts';
import { ages, texts } from '../ui/table/cells.tsx';
import type { Column } from '../ui/table/table-model.ts';
import { Dimmed } from '../ui/text/dimmed.ts';

type Entry = ResponseOf<'/audit', 'get'>['data'][number];

const route = getRouteApi('/audit');

export default function AuditPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const filter = (changed: Partial<typeof search>): void =>
    void navigate({ search: (before) => ({ ...before, cursor: undefined, ...changed }) });
  const found = useQuery({
    ...apiQuery(['audit', search], '/audit', { query: { ...search, limit: 50 } }),
    placeholderData: keepPreviousData,
  });
  const { cursor, ...filters } = search;
  const query = searchText(filters);
  return (
    <Page
      title="Audit"
      subtitle="Every change, newest first."
      actions={
        <ExportMenu
          files={[
            ['CSV', `/audit.csv${query}`],
            ['JSON Lines', `/audit.jsonl${query}`],
          ]}
        />
      }
    >
      <Group role="search" aria-label="Audit">
        <TypedFilter label="Who" value={search.actor} onChange={(actor) => filter({ actor })} />
        <ChosenFilter
          label="Action"
          value={search.action}
          values={REQUEST_VALUES['/audit'].action}
          onChange={(action) => filter({ action })}
          isSearchable
        />
        <TypedFilter label="Handle or id" value={search.object} onChange={(object) => filter({ object })} />
        {(['from', 'to'] as const).map((name) => (
          <TextInput
            key={name}
            type="date"
            size="xs"
            aria-label={name === 'from' ? 'From' : 'Before'}
            title="UTC"
            value={search[name] ?? ''}
            onChange={({ currentTarget: { value } }) => filter({ [name]: value === '' ? undefined : value })}
          />
        ))}
      </Group>
      <PagedTable
        query={found}
        columns={COLUMNS}
        what="change"
        empty={query === '' ? 'No changes yet.' : 'No change matches the filters.'}
      />
    </Page>
  );
}

const COLUMNS: readonly Column<Entry>[] = [
  ages('When', ({ at }) => at),
  texts('Who', ({ actor: { name, role } }) => (role === null ? name : `${name}, ${role}`), { size: 130 }),
  { label: 'Action', size: 130, cell: ({ action }) => action },
  texts('What', ({ object }) => <Changed object={object} />, { size: 180, share: 2 }),
  texts('Details', ({ details }) => detailsText(details), { size: 200, share: 2 }),
  {
    label: 'Request',
    size: 120,
    share: 1,
    isOptional: true,
    cell: ({ request_id }) => <Text size="xs">{request_id}</Text>,
  },
];

const detailsText = (details: Entry['details']): string =>
  Object.entries(details)
    .map(([name, value]) => `${name}: ${Array.isArray(value) ? value.join(', ') : String(value)}`)
    .join('; ');

function Changed({ object: { kind, id, name, handle } }: Pick<Entry, 'object'>) {
  const label = name ?? (kind === 'settings' ? 'settings' : `${kind} ${id?.slice(0, 8)}`);
  if (id !== null && (kind === 'run' || kind === 'dataset')) {
    return (
      <>
        <LinkAnchor to={kind === 'run' ? '/runs/$id' : '/datasets/$id'} params={{ id }} size="sm">
          {label}
        </LinkAnchor>
        {handle !== undefined && <Dimmed span> {handle}</Dimmed>}
      </>
    );
  }
  return label;
}
