import { Button, Group, PasswordInput, Stack, TextInput } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { type FormEvent, useEffect, useState } from 'react';
import { ErrorView } from '../ui/error-view.tsx';
import { Page } from '../ui/layout/page.tsx';
import { PageSkeleton } from '../ui/layout/page-skeleton.tsx';
import { ImportForm } from './import-form.tsx';
import type { ImportSearch } from './import-search.ts';
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
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setToken(typedToken.trim() || undefined);
    const asked = sourceOf(typed);
    // the same dataset again keeps its slice
    if (asked.path !== search.path || asked.revision !== undefined) void navigate({ search: asked });
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
          {preview.error !== null && (
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

/** The dataset in what people paste: the address of its page names it after `datasets`, and may name a revision. */
function sourceOf(text: string): ImportSearch {
  const match =
    /\/datasets\/([\w.-]+(?:\/(?!tree|viewer|blob|resolve)[\w.-]+)?)(?:\/(?:tree|blob|resolve)\/([\w.%-]+))?/.exec(
      text.trim(),
    );
  if (match === null) return { path: text.trim() };
  const [, path, revision] = match;
  return { path, revision: revision === undefined ? undefined : decodeURIComponent(revision) };
}
