import { Accordion, Button, Grid, Stack, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { canonicalJson } from '@svc/jsonl-v23/json';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useApi } from '../../api/api-context.tsx';
import { dataOf } from '../../api/api-problem.ts';
import { DatasetSelect } from '../../datasets/dataset-select.tsx';
import { ErrorView } from '../../ui/error-view.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { PaceFields } from './pace-fields.tsx';
import { PlanView } from './plan-view.tsx';
import { ProviderFields } from './provider-fields.tsx';
import { EMPTY_FORM, type NewRunBody, type RunForm, toRequest } from './run-form.ts';
import { ScoringFields } from './scoring-fields.tsx';
import { SelectionFields } from './selection-fields.tsx';

const route = getRouteApi('/runs/new');

const TYPING_MS = 400;

/** Configures a run. What it will do, and what speaks against it, is shown before it starts. */
export function NewRunPage() {
  const api = useApi();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { dataset } = route.useSearch();
  const [form, setForm] = useState<RunForm>({ ...EMPTY_FORM, datasetId: dataset ?? null });
  const change = (changes: Partial<RunForm>): void => setForm((before) => ({ ...before, ...changes }));
  const [settled] = useDebouncedValue(form, TYPING_MS);
  const request = useMemo(() => toRequest(settled), [settled]);
  const isComplete = useMemo(() => toRequest(form) !== null, [form]);
  const start = useMutation({
    mutationFn: async (body: NewRunBody) => {
      const run = await dataOf(
        api.POST('/runs', {
          params: { header: { 'Idempotency-Key': crypto.getRandomValues(new Uint32Array(4)).join('-') } },
          body,
          bodySerializer: canonicalJson,
        }),
      );
      return (run as { readonly id: string }).id;
    },
    onSuccess: async (id) => {
      await queries.invalidateQueries({ queryKey: ['runs'] });
      await navigate({ to: '/runs/$id', params: { id } });
    },
  });
  return (
    <Page title="New run" subtitle="Sends items to a model, and scores its answers.">
      <Grid gap="xl">
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Stack>
            <DatasetSelect
              label="Dataset"
              value={form.datasetId}
              onChange={(datasetId) => change({ datasetId })}
            />
            <ProviderFields form={form} onChange={change} />
            <TextInput
              label="Name of the run"
              description="Tells it from other runs of the same model"
              value={form.name}
              onChange={(event) => change({ name: event.currentTarget.value })}
              maxLength={255}
            />
            <Accordion multiple variant="contained" transitionDuration={0}>
              <Accordion.Item value="selection">
                <Accordion.Control>Which items, and what is asked</Accordion.Control>
                <Accordion.Panel>
                  <SelectionFields form={form} onChange={change} />
                </Accordion.Panel>
              </Accordion.Item>
              <Accordion.Item value="scoring">
                <Accordion.Control>Scoring</Accordion.Control>
                <Accordion.Panel>
                  <ScoringFields form={form} onChange={change} />
                </Accordion.Panel>
              </Accordion.Item>
              <Accordion.Item value="pace">
                <Accordion.Control>Repetitions, pace and price</Accordion.Control>
                <Accordion.Panel>
                  <PaceFields form={form} onChange={change} />
                </Accordion.Panel>
              </Accordion.Item>
            </Accordion>
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Stack>
            <PlanView request={request} />
            {start.error !== null && <ErrorView error={start.error} />}
            <Button
              w="fit-content"
              disabled={!isComplete}
              loading={start.isPending}
              onClick={() => {
                const now = toRequest(form);
                if (now !== null) start.mutate(now);
              }}
            >
              Start the run
            </Button>
          </Stack>
        </Grid.Col>
      </Grid>
    </Page>
  );
}
