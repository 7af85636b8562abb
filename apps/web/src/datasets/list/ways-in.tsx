import example from '@examples/capitals.pkg.zip?url';
import { Button, Card, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
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
  const ways = [
    [
      'package',
      'Look around first',
      'A small example: seven questions about capitals, with their answers.',
      <Button key="example" variant="default" loading={example.isPending} onClick={() => example.mutate()}>
        Add the example
      </Button>,
    ],
    [
      'upload',
      'Your own file',
      'CSV, JSON Lines, JSON, Parquet or a package. Drop it anywhere on this page.',
      <LinkButton key="upload" label="Upload a file" size="sm" to="/upload" />,
    ],
    [
      'cloudDownload',
      'From the hub',
      'Preview a dataset of the Hugging Face Hub, choose columns, and import a slice.',
      <LinkButton key="import" label="Import from the hub" size="sm" variant="default" to="/import" />,
    ],
  ] as const;
  return (
    <>
      <SimpleGrid cols={{ base: 1, md: 3 }} spacing="md">
        {ways.map(([icon, title, text, action]) => (
          <Card key={icon} withBorder padding="lg">
            <Stack h="100%" justify="space-between">
              <Stack gap={6}>
                <Icon name={icon} size={28} aria-hidden />
                <Title order={2} size="h5">
                  {title}
                </Title>
                <Dimmed>{text}</Dimmed>
              </Stack>
              {action}
            </Stack>
          </Card>
        ))}
      </SimpleGrid>
      {example.error !== null && <ErrorView error={example.error} />}
    </>
  );
}

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
