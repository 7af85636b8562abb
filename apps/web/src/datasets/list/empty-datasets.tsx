import { Button, Card, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useCan } from '../../session/session.tsx';
import { ErrorView } from '../../ui/error-view.tsx';
import { IconCloudDownload, IconPackage, IconUpload } from '../../ui/icons.tsx';
import { LinkButton } from '../../ui/layout/links.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { useExample } from './use-example.ts';

/** What the list shows before there is a dataset: three ways to get one. */
export const EmptyDatasets = () => (
  <Page title="Datasets" subtitle="There is nothing here yet.">
    <WaysIn />
  </Page>
);

/** The three ways to get a dataset. */
export function WaysIn() {
  const canEdit = useCan('editor');
  const example = useExample();
  if (!canEdit) return <Text>Your key may look at datasets, not add them.</Text>;
  return (
    <>
      <SimpleGrid cols={{ base: 1, md: 3 }} spacing="md">
        <Way
          icon={<IconPackage size={28} aria-hidden />}
          title="Look around first"
          text="A small example: seven questions about capitals, with their answers."
        >
          <Button variant="default" loading={example.isPending} onClick={() => example.mutate()}>
            Add the example
          </Button>
        </Way>
        <Way
          icon={<IconUpload size={28} aria-hidden />}
          title="Your own file"
          text="CSV, JSON Lines, JSON, Parquet or a package. Drop it anywhere on this page."
        >
          <LinkButton to="/upload">Upload a file</LinkButton>
        </Way>
        <Way
          icon={<IconCloudDownload size={28} aria-hidden />}
          title="From the hub"
          text="Preview a dataset of the Hugging Face Hub, choose columns, and import a slice."
        >
          <LinkButton variant="default" to="/import">
            Import from the hub
          </LinkButton>
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
