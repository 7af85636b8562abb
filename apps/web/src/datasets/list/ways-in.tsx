import example from '@examples/capitals.pkg.zip?url';
import { Button, Card, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { upload } from '../../api/upload-body.ts';
import { useCan } from '../../session/session.tsx';
import { LinkButton } from '../../ui/buttons.tsx';
import { Icon } from '../../ui/icons.tsx';
import { ErrorView } from '../../ui/query-state.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';

export function WaysIn() {
  const canEdit = useCan('editor');
  const example = useExample();
  if (!canEdit) return <Text>Your key may look at datasets, not add them.</Text>;
  return (
    <>
      <SimpleGrid cols={{ base: 1, md: 3 }} spacing="md">
        <Way
          icon={<Icon name="package" size={28} aria-hidden />}
          title="Look around first"
          text="A small example: seven questions about capitals, with their answers."
        >
          <Button variant="default" loading={example.isPending} onClick={() => example.mutate()}>
            Add the example
          </Button>
        </Way>
        <Way
          icon={<Icon name="upload" size={28} aria-hidden />}
          title="Your own file"
          text="CSV, JSON Lines, JSON, Parquet or a package. Drop it anywhere on this page."
        >
          <LinkButton label="Upload a file" size="sm" to="/upload" />
        </Way>
        <Way
          icon={<Icon name="cloudDownload" size={28} aria-hidden />}
          title="From the hub"
          text="Preview a dataset of the Hugging Face Hub, choose columns, and import a slice."
        >
          <LinkButton label="Import from the hub" size="sm" variant="default" to="/import" />
        </Way>
      </SimpleGrid>
      {example.error !== null && <ErrorView error={example.error} />}
    </>
  );
}

function Way({
  icon,
  title,
  text,
  children,
}: {
  readonly icon: ReactNode;
  readonly title: string;
  readonly text: string;
  readonly children: ReactNode;
}) {
  return (
    <Card withBorder padding="lg">
      <Stack h="100%" justify="space-between">
        <Stack gap={6}>
          {icon}
          <Title order={2} size="h5">
            {title}
          </Title>
          <Dimmed>{text}</Dimmed>
        </Stack>
        {children}
      </Stack>
    </Card>
  );
}

/** Uploads the example package, which is a file of the console, and opens it. */
export function useExample(): UseMutationResult<unknown, Error, void> {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: async () => {
      const archive = await (await fetch(example)).blob();
      const file = new File([archive], 'capitals.pkg.zip');
      return await upload('/datasets/upload', { files: [file] }, {});
    },
    onSuccess: async (dataset) => {
      await queries.invalidateQueries({ queryKey: ['datasets'] });
      if (dataset !== undefined && 'item_count' in dataset && 'id' in dataset)
        await navigate({ to: '/datasets/$id', params: { id: dataset.id } });
    },
  });
}
