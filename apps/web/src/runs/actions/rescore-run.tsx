import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import type { Paths } from '@svc/client';
import { canonicalJson } from '@svc/jsonl-v23/json';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useApi } from '../../api/api-context.tsx';
import { dataOf } from '../../api/api-problem.ts';
import { ErrorView } from '../../ui/error-view.tsx';
import { CheckerFields } from '../create/checker-fields.tsx';
import { checkerOf, NO_CHECKER } from '../create/checker-form.ts';
import { JudgeFields } from '../create/judge-fields.tsx';
import { judgeOf, NO_JUDGE } from '../create/judge-form.ts';
import type { Run } from '../use-run.ts';

type Body = Paths['/runs/{id}/rescore']['post']['requestBody']['content']['application/json'];

/** Scores the stored outputs of a run with another checker or judge, as a new run. */
export function RescoreRun({ run, onClose }: { readonly run: Run; readonly onClose: () => void }) {
  const api = useApi();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [checker, setChecker] = useState(NO_CHECKER);
  const [judge, setJudge] = useState(NO_JUDGE);
  const [name, setName] = useState('');
  const { price } = run.config as { readonly price?: { readonly currency: string } | null };
  const currency = price?.currency ?? 'USD';
  const statedJudge = judgeOf(judge, currency);
  const statedChecker = checkerOf(checker);
  const isReady = statedJudge !== null && (statedJudge !== undefined || statedChecker !== undefined);
  const rescore = useMutation({
    mutationFn: () => {
      const body = {
        ...(statedChecker === undefined ? {} : { checker: statedChecker }),
        ...(statedJudge === undefined ? {} : { judge: statedJudge }),
        ...(name.trim() === '' ? {} : { name: name.trim() }),
      } as unknown as Body;
      return dataOf(
        api.POST('/runs/{id}/rescore', {
          params: { path: { id: run.id } },
          body,
          bodySerializer: canonicalJson,
        }),
      );
    },
    onSuccess: async ({ id }) => {
      onClose();
      await queries.invalidateQueries({ queryKey: ['runs'] });
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
          <Text size="sm">
            The outputs stay as they are; only a judge is asked. The scores become a new run.
          </Text>
          <CheckerFields form={checker} description="For every item" onChange={setChecker} />
          <JudgeFields form={judge} currency={currency} onChange={setJudge} />
          <TextInput
            label="Name of the new run"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            maxLength={255}
          />
          {rescore.error !== null && <ErrorView error={rescore.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={rescore.isPending} disabled={!isReady}>
              Score again
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
