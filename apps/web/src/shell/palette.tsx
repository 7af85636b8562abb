import { Modal, Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';
import { nameOf } from '../runs/use-run.ts';

const TYPING_MS = 200;
const SHOWN = 20;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const PAGES = [
  ['/datasets', 'Datasets'],
  ['/import', 'Hub import'],
  ['/upload', 'Upload'],
  ['/runs', 'Runs'],
  ['/runs/new', 'New run'],
  ['/compare', 'Compare'],
  ['/jobs', 'Jobs'],
  ['/status', 'Status'],
  ['/settings', 'Settings'],
] as const;

/** Finds a page, a dataset or a run by a part of its name, or by its id, and goes there. */
export default function Palette({ onClose }: { readonly onClose: () => void }) {
  const api = useApi();
  const navigate = useNavigate();
  const [typed, setTyped] = useState('');
  const [q] = useDebouncedValue(typed.trim(), TYPING_MS);
  const found = useQuery({
    queryKey: ['palette', q],
    queryFn: async ({ signal }) => {
      const [datasets, runs] = await Promise.all([
        dataOf(api.GET('/datasets', { params: { query: { limit: SHOWN, q: q || undefined } }, signal })),
        dataOf(api.GET('/runs', { params: { query: { limit: 100 } }, signal })),
      ]);
      return { datasets: datasets.data, runs: runs.data };
    },
    placeholderData: keepPreviousData,
  });
  const has = (name: string): boolean => name.toLowerCase().includes(typed.trim().toLowerCase());
  const groups = [
    {
      group: 'Pages',
      items: PAGES.filter(([, label]) => has(label)).map(([value, label]) => ({ value, label })),
    },
    {
      group: 'Datasets',
      items: (found.data?.datasets ?? [])
        .filter(({ name }) => has(name))
        .map(({ id, name }) => ({ value: `/datasets/${id}`, label: name })),
    },
    {
      group: 'Runs',
      items: (found.data?.runs ?? [])
        .filter((run) => has(nameOf(run)) || run.id === q)
        .slice(0, SHOWN)
        .map((run) => ({ value: `/runs/${run.id}`, label: nameOf(run) })),
    },
    {
      group: 'By id',
      items: UUID.test(q)
        ? [
            { value: `/datasets/${q}?by=id`, label: `Dataset ${q}` },
            { value: `/runs/${q}?by=id`, label: `Run ${q}` },
          ]
        : [],
    },
  ];
  const go = (value: string | null): void => {
    if (value === null) return;
    onClose();
    void navigate({ to: value.replace('?by=id', '') });
  };
  return (
    <Modal opened onClose={onClose} title="Go to" closeButtonProps={{ 'aria-label': 'Close' }}>
      <Select
        data-autofocus
        aria-label="Page, dataset or run"
        placeholder="Page, dataset or run"
        searchable
        defaultDropdownOpened
        nothingFoundMessage="Nothing has this in its name."
        filter={({ options }) => options}
        searchValue={typed}
        onSearchChange={setTyped}
        value={null}
        onChange={go}
        onKeyDown={(event) => {
          // Enter without a chosen option means the first one
          const first = groups.flatMap(({ items }) => items)[0];
          const isChosen = event.currentTarget.getAttribute('aria-activedescendant') !== null;
          if (event.key === 'Enter' && !isChosen && first !== undefined) go(first.value);
        }}
        data={groups}
      />
    </Modal>
  );
}
