import { Accordion, Grid, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDebouncedValue } from '@mantine/hooks';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { ApiProblem } from '../../api/api-problem.ts';
import { fieldErrors } from '../../api/field-errors.ts';
import { DatasetSelect } from '../../datasets/dataset-select.tsx';
import { VersionSelect } from '../../datasets/versions/version-select.tsx';
import { type Field, Fields } from '../../ui/form/fields.tsx';
import { InView } from '../../ui/layout/in-view.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { QueryState } from '../../ui/query-state.tsx';
import { useRun } from '../use-run.ts';
import { formOf } from './copy-form.ts';
import { toRequests } from './matrix.ts';
import { MatrixFields } from './matrix-fields.tsx';
import { usePlan } from './plan-view.tsx';
import { ProviderChoice } from './provider/provider-choice.tsx';
import { ALLOWS_UNSCORED, OVERRIDE, SCORES_REASONING } from './run-fields.ts';
import { EMPTY_FORM, problemsOf, type RunForm, toRequest } from './run-form.ts';
import { ScorerList } from './scoring/scorer-list.tsx';
import { ScoringFields } from './scoring/scoring-fields.tsx';
import { StartPanel } from './start-panel.tsx';
import { TrialView, useTrial } from './trial.tsx';
import { useFormParts } from './use-form-parts.ts';
import { useStart } from './use-start.ts';

const route = getRouteApi('/runs/new');

const TYPING_MS = 400;

/** Configures a run, from nothing or as a copy of another one. */
export default function NewRunPage() {
  const { dataset = null, version = null, copy } = route.useSearch();
  return copy === undefined ? (
    <NewRun key={`${dataset} ${version}`} initial={{ ...EMPTY_FORM, datasetId: dataset, version }} />
  ) : (
    <CopiedRun id={copy} />
  );
}

function CopiedRun({ id }: { readonly id: string }) {
  const found = useRun(id);
  // what is typed stays when the run is gone
  if (found.data === undefined)
    return (
      <Page title="New run">
        <QueryState query={found} />
      </Page>
    );
  return <NewRun key={id} initial={formOf(found.data)} />;
}

/** The form of a run. What it will do, and why it cannot start, is shown before it starts. */
function NewRun({ initial }: { readonly initial: RunForm }) {
  const trial = useTrial();
  const form = useForm<RunForm>({
    initialValues: initial,
    validate: problemsOf,
    validateInputOnChange: true,
    onValuesChange: () => {
      start.reset();
      trial.reset();
    },
  });
  const { values } = form;
  const requests = useMemo(() => toRequests(values), [values]);
  const start = useStart(requests);
  const { parts, ofModel, models, pretended } = useFormParts(values);
  // values of the form are copies of the initial ones after the first change
  const isCopy = initial.copied !== EMPTY_FORM.copied;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a pointer that was typed stays
  useEffect(() => {
    if (pretended !== undefined && values.pointer === EMPTY_FORM.pointer && !isCopy)
      form.setFieldValue('pointer', pretended);
  }, [pretended]);
  const [settled] = useDebouncedValue(values, TYPING_MS);
  const request = useMemo(() => toRequest(settled), [settled]);
  const plan = usePlan(request);
  const failure = start.error ?? trial.error ?? (request === null ? null : plan.error);
  const isUnscorable =
    failure instanceof ApiProblem &&
    failure.problem.code === 'nothing_to_score' &&
    !failure.problem.detail.endsWith('selects no items.');
  const fields = [...ofModel.common, ...ofModel.rare, ...parts.flatMap((part) => part.fields)];
  const refused = isUnscorable
    ? {
        [values.scorers.length > 0 ? 'scorers.0.by' : 'checker.type']:
          'No item can be scored without a checker or a judge.',
      }
    : fieldErrors(failure, fields);
  const isShownAtFields = Object.keys(refused).length > 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a response is shown once, and then edited away
  useEffect(() => {
    form.setErrors({ ...problemsOf(form.values), ...refused });
  }, [failure]);
  const [opened, setOpened] = useState<readonly string[]>([]);
  const wrong = parts.filter(({ fields }) => fields.some(({ name }) => form.errors[name] !== undefined));
  return (
    <Page title="New run" subtitle="Sends items to a model, and scores its answers.">
      <Grid gap="xl">
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Stack>
            <DatasetSelect
              label="Dataset"
              value={values.datasetId}
              onChange={(datasetId) => form.setValues({ datasetId, version: null })}
            />
            <VersionSelect
              label="Version"
              id={values.datasetId}
              value={values.version}
              onChange={(version) => form.setFieldValue('version', version)}
            />
            <ProviderChoice form={form} fields={ofModel} />
            <Fields form={form} fields={NAME} />
            <Accordion
              multiple
              variant="contained"
              transitionDuration={0}
              value={[...new Set([...opened, ...wrong.map(({ key }) => key)])]}
              onChange={setOpened}
            >
              {parts.map(({ key, label, fields, cols }) => (
                <Accordion.Item key={key} value={key}>
                  <Accordion.Control>{label}</Accordion.Control>
                  <Accordion.Panel>
                    {key === 'matrix' ? (
                      <MatrixFields form={form} models={models} />
                    ) : key === 'scoring' ? (
                      <Stack gap="sm">
                        <ScoringFields
                          form={form}
                          checkerFor="For items without one"
                          currency={values.currency}
                          pointer="/config"
                          afterChecker={[OVERRIDE]}
                          several={values.scorers.length > 0 ? <ScorerList form={form} /> : undefined}
                        />
                        {values.scorers.length === 0 && <ScorerList form={form} />}
                        <Fields form={form} fields={[SCORES_REASONING, ALLOWS_UNSCORED]} />
                      </Stack>
                    ) : (
                      <Fields form={form} fields={fields} cols={cols} />
                    )}
                  </Accordion.Panel>
                </Accordion.Item>
              ))}
            </Accordion>
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <StartPanel
            request={request}
            requests={requests}
            failure={failure}
            marked={isShownAtFields ? (isUnscorable ? 'part Scoring' : 'fields') : null}
            start={start}
            trial={trial}
          />
        </Grid.Col>
        {trial.data !== undefined && (
          <Grid.Col span={12}>
            <InView state={trial.status}>
              <TrialView tried={trial.data} />
            </InView>
          </Grid.Col>
        )}
      </Grid>
    </Page>
  );
}

const NAME: readonly Field<RunForm>[] = [
  {
    name: 'name',
    label: 'Name of the run',
    description: 'Tells it from other runs of the same model',
    maxLength: 255,
  },
];
