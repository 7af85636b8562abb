import { Autocomplete, Button, Group, PasswordInput, Select, Stack } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type FormEvent, useEffect, useState } from 'react';
import { ApiProblem, apiQuery } from '../api/api.ts';
import { Page } from '../ui/layout/page.tsx';
import { ErrorView, PageSkeleton } from '../ui/query-state.tsx';
import { formatCount } from '../ui/text/formats.ts';
import { allSubsets, hubSourceOf, importRoute, SUBSETS, useChangeImport } from './hub-source.ts';
import { ImportForm, useHubPreview } from './import-form.tsx';

export default function ImportPage() {
  const search = importRoute.useSearch();
  const navigate = importRoute.useNavigate();
  const [typed, setTyped] = useState(search.path ?? '');
  const [typedToken, setTypedToken] = useState('');
  const [token, setToken] = useState<string>();
  useEffect(() => setTyped(search.path ?? ''), [search.path]);
  const preview = useHubPreview({ ...search, token }, null);
  const found = useFoundDatasets(typed === search.path ? '' : typed);
  const missing = missingOf(preview.error);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    open(typed);
  };
  const open = (text: string): void => {
    setToken(typedToken.trim() || undefined);
    const asked = hubSourceOf(text);
    // the same dataset again keeps its slice
    if (asked.path !== search.path || asked.revision !== undefined || asked.subset !== undefined)
      void navigate({ search: asked });
  };
  return (
    <Page
      title="Import from the hub"
      subtitle="Choose a dataset, say which columns are what, and import a slice of it."
    >
      <form onSubmit={submit}>
        <Group align="flex-end" gap="xs">
          <Autocomplete
            label="Dataset"
            description="owner/name, the address of its page, or a part of its name"
            placeholder="openai/gsm8k"
            value={typed}
            onChange={setTyped}
            onOptionSubmit={open}
            // the hub has searched for it
            filter={({ options }) => options}
            data={found}
            flex="1 1 260px"
            maw={560}
            required
          />
          <PasswordInput
            label="Token"
            description="For a private or gated dataset"
            autoComplete="off"
            value={typedToken}
            onChange={(event) => setTypedToken(event.currentTarget.value)}
            w={220}
          />
          <Button type="submit" loading={preview.isFetching && search.path !== undefined}>
            Preview
          </Button>
        </Group>
      </form>
      {search.path !== undefined && (
        <Stack>
          {missing !== null && preview.data === undefined && (
            <MissingChoice {...missing} subset={search.subset} />
          )}
          {preview.error !== null && (missing === null || preview.data !== undefined) && (
            <ErrorView error={preview.error} onRetry={() => void preview.refetch()} />
          )}
          {preview.isPending && <PageSkeleton />}
          {preview.data !== undefined && (
            <ImportForm
              key={`${search.path} ${preview.data.subset}`}
              source={{ ...search, path: search.path, token }}
              preview={preview.data}
            />
          )}
        </Stack>
      )}
    </Page>
  );
}

const TYPING_MS = 300;

/** What a name on the hub may have; addresses are not looked for. */
const NAME = /^[\w./ -]{2,100}$/;

/** Names of the datasets of the hub that a text is a part of; none while the hub does not say. */
function useFoundDatasets(typed: string): string[] {
  const [q] = useDebouncedValue(typed.trim(), TYPING_MS);
  const found = useQuery({
    ...apiQuery(['hub-datasets', q], '/hub/datasets', { query: { q, limit: 20 } }),
    enabled: NAME.test(q),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    retry: false,
  });
  return q === '' ? [] : (found.data?.data.map(({ id }) => id) ?? []);
}

type Missing = NonNullable<ReturnType<typeof missingOf>>;

function MissingChoice({ part, available, subset }: Missing & { readonly subset: string | undefined }) {
  const change = useChangeImport();
  const label = part === 'subset' ? 'Subset' : 'Split';
  return (
    <Group align="flex-end" gap="xs">
      <Select
        key={part}
        label={`${label} (${formatCount(available.length)})`}
        description={`This ${part === 'subset' ? 'dataset' : 'subset'} has several ${part}s and no default. Choose the one to import.`}
        placeholder={`Choose a ${part}`}
        flex="1 1 260px"
        maw={560}
        searchable
        limit={200}
        data={available}
        value={null}
        onChange={(name) => change({ [part]: name ?? undefined })}
      />
      {part === 'subset' && (
        <Select
          label="Or all of them"
          placeholder="One subset only"
          data={allSubsets(available.length)}
          value={null}
          onChange={(value) =>
            change({ subsets: SUBSETS.find((one) => one === value), subset: available[0] })
          }
        />
      )}
      {part === 'split' && subset !== undefined && (
        <Button variant="default" onClick={() => change({ subset: undefined, split: undefined })}>
          Other subset
        </Button>
      )}
    </Group>
  );
}

const PARTS = { hub_subset_not_found: 'subset', hub_split_not_found: 'split' } as const;

/** What a preview lacks; null if there is another reason, or nothing to choose from. */
function missingOf(error: Error | null) {
  if (!(error instanceof ApiProblem)) return null;
  const part = Object.entries(PARTS).find(([code]) => code === error.problem.code)?.[1];
  const available = error.problem.available ?? [];
  return part === undefined || available.length === 0 ? null : { part, available };
}
