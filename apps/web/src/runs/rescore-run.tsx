import { Button, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import type { Paths } from '@svc/client';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';
import { ErrorView } from '../ui/error-view.tsx';
import { CHECKERS } from './create/run-form.ts';
import type { Run } from './use-run.ts';

type Body = Paths['/runs/{id}/rescore']['post']['requestBody']['content']['application/json'];

/** Scores the stored outputs of a run with another checker, as a new run. */
export function RescoreRun({ run, onClose }: { readonly run: Run; readonly onClose: () => void }) {
  const api = useApi();
  const navigate = useNavigate();
  const [checker, setChecker] = useState<string | null>('includes');
  const [pattern, setPattern] = useState('');
  const rescore = useMutation({
    mutationFn: () => {
      const stated = checker === 'regex' ? { type: checker, pattern } : { type: checker };
      const body = { checker: stated } as unknown as Body;
      return dataOf(api.POST('/runs/{id}/rescore', { params: { path: { id: run.id } }, body }));
    },
    onSuccess: async ({ id }) => {
      onClose();
      await navigate({ to: '/runs/$id', params: { id } });
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    rescore.mutate();
  };
  return (
    <Modal opened onClose={onClose} title="Score again" closeButtonProps={{ 'aria-label': 'Close' }}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          <Text size="sm">The outputs stay as they are; no model is asked. The scores become a new run.</Text>
          <Select
            label="Checker"
            value={checker}
            onChange={setChecker}
            data={CHECKERS}
            allowDeselect={false}
          />
          {checker === 'regex' && (
            <TextInput
              label="Pattern"
              value={pattern}
              onChange={(event) => setPattern(event.currentTarget.value)}
              required
            />
          )}
          {rescore.error !== null && <ErrorView error={rescore.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={rescore.isPending}>
              Score again
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
