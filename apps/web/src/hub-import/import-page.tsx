import { Button, Group, PasswordInput, Select, Stack, TextInput } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { type FormEvent, useEffect, useState } from 'react';
import { ApiProblem } from '../api/api-problem.ts';
import { ErrorView } from '../ui/error-view.tsx';
import { Page } from '../ui/layout/page.tsx';
import { PageSkeleton } from '../ui/layout/page-skeleton.tsx';
import { formatCount } from '../ui/text/formats.ts';
import { hubSourceOf } from './hub-source.ts';
import { ImportForm } from './import-form.tsx';
import { useHubPreview } from './use-hub-preview.ts';

const route = getRouteApi('/import');

/** Imports a dataset of the hub: what is in it, which columns become which parts of items, and the import itself. */
export function ImportPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [typed, setTyped] = useState(search.path ?? '');
  const [typedToken, setTypedToken] = useState('');
  const [token, setToken] = useState<string>();
  useEffect(() => setTyped(search.path ?? ''), [search.path]);
  const preview = useHubPreview({ ...search, token }, null);
  const subsets = subsetsOf(preview.error);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setToken(typedToken.trim() || undefined);
    const asked = hubSourceOf(typed);
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
          <TextInput
            label="Dataset"
            description="owner/name, or the address of its page"
            placeholder="openai/gsm8k"
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
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
          {subsets.length > 0 && <SubsetChoice subsets={subsets} />}
          {preview.error !== null && subsets.length === 0 && (
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

/** The subsets of a dataset that asks for one of them. */
function SubsetChoice({ subsets }: { readonly subsets: readonly string[] }) {
  const navigate = route.useNavigate();
  return (
    <Select
      label={`Subset (${formatCount(subsets.length)})`}
      description="This dataset has several subsets and no default. Choose the one to import."
      placeholder="Choose a subset"
      maw={560}
      searchable
      limit={200}
      data={subsets}
      value={null}
      onChange={(subset) =>
        void navigate({ search: (before) => ({ ...before, subset: subset ?? undefined, split: undefined }) })
      }
    />
  );
}

/** The subsets to choose from, where that is why there is no preview. */
function subsetsOf(error: Error | null): readonly string[] {
  if (!(error instanceof ApiProblem) || error.problem.code !== 'hub_subset_not_found') return [];
  return error.problem.available ?? [];
}
