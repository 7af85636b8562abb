import { Accordion, Grid, Group, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDebouncedValue, useHotkeys, useSessionStorage } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { ApiProblem } from '../../api/api.ts';
import { DatasetSelect, VersionSelect } from '../../datasets/choose-dataset.tsx';
import { datasetQuery, overviewQuery } from '../../datasets/queries.ts';
import { SmallButton } from '../../ui/buttons.tsx';
import { type Field, Fields, fieldErrors } from '../../ui/form/fields.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { QueryState } from '../../ui/query-state.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { useRun } from '../queries.ts';
import {
  asksModel,
  checkerFields,
  judgeFields,
  partFields,
  providerFields,
  suggesting,
} from './config-fields.ts';
import { Playground, SOME_ITEMS, type TrialItems, useTrial } from './playground.tsx';
import {
  FURTHER_MODELS,
  MatrixFields,
  ProviderChoice,
  useModelSuggestions,
  Variants,
} from './provider-choice.tsx';
import { EMPTY_FORM, formOf, problemsOf, type RunForm, toRequest, toRequests, valueAt } from './run-form.ts';
import { JudgeFields, ScorerList, scorerFields } from './scoring.tsx';
import { StartPanel, usePlan, useStart } from './start-panel.tsx';

const route = getRouteApi('/runs/new');

const TYPING_MS = 400;

export default function NewRunPage() {
  const { dataset = null, version = null, copy } = route.useSearch();
  const [attempt, setAttempt] = useState(0);
  const again = (): void => setAttempt(attempt + 1);
  if (copy !== undefined) return <CopiedRun key={attempt} id={copy} onAgain={again} />;
  const draftKey = `${dataset} ${version}`;
  const initial = { ...EMPTY_FORM, datasetId: dataset, version };
  return <NewRun key={`${draftKey} ${attempt}`} draftKey={draftKey} initial={initial} onAgain={again} />;
}

function CopiedRun({ id, onAgain }: { readonly id: string; readonly onAgain: () => void }) {
  const found = useRun(id);
  // what is typed stays when the run is gone
  if (found.data === undefined)
    return (
      <Page title="New run">
        <QueryState query={found} />
      </Page>
    );
  return <NewRun key={id} draftKey={id} initial={formOf(found.data)} onAgain={onAgain} />;
}

/** A form that was left half filled in this tab, and what it was of. */
interface Draft {
  readonly key: string;
  readonly form: RunForm;
}

/** The form of a run. What it will do, and why it cannot start, is shown before it starts. */
function NewRun(props: {
  /** What a form that was left half filled is kept under, for the tab. */
  readonly draftKey: string;
  readonly initial: RunForm;
  readonly onAgain: () => void;
}) {
  const { draftKey, initial, onAgain } = props;
  const [kept, keep, forget] = useSessionStorage<Draft | null>({
    ...{ key: 'svc.run-draft', defaultValue: null, getInitialValueInEffect: false },
  });
  const [draft] = useState(kept?.key === draftKey ? { ...EMPTY_FORM, ...kept.form } : null);
  const [items, setItems] = useState<TrialItems>(SOME_ITEMS);
  const trial = useTrial(items);
  const form = useForm<RunForm>({
    initialValues: draft ?? initial,
    validate: problemsOf,
    validateInputOnChange: true,
    onValuesChange: (now) => {
      start.reset();
      keep({ key: draftKey, form: now });
    },
  });
  const { values } = form;
  const { config } = values;
  const requests = useMemo(() => toRequests(values), [values]);
  const start = useStart(requests, forget);
  const { parts, ofModel, models, pretended, ids } = useFormParts(values);
  const currency = String(valueAt(values, 'config.price.currency'));
  const ofChecker = [
    ...checkerFields(config.checker.type, 'For items without one'),
    ...(config.checker.type === null ? [] : SCORING.filter(isOfChecker)),
  ];
  // values of the form are copies of the initial ones after the first change
  const isCopy = draft !== null || initial.copied !== EMPTY_FORM.copied;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a pointer that was typed stays
  useEffect(() => {
    if (
      pretended !== undefined &&
      config.provider['pointer'] === EMPTY_FORM.config.provider['pointer'] &&
      !isCopy
    )
      form.setFieldValue('config.provider.pointer', pretended);
  }, [pretended]);
  const [settled] = useDebouncedValue(values, TYPING_MS);
  const request = useMemo(() => toRequest(settled), [settled]);
  const plan = usePlan(request);
  const tryItems = (): void => {
    if (requests !== null && !trial.isPending) trial.mutate(requests);
  };
  useHotkeys([['mod+Enter', tryItems]], []);
  const failure = start.error ?? (request === null ? null : plan.error);
  const isUnscorable =
    failure instanceof ApiProblem &&
    failure.problem.code === 'nothing_to_score' &&
    !failure.problem.detail.endsWith('selects no items.');
  const fields = [...PROMPTS, ...ofModel, ...parts.flatMap((part) => part.fields)];
  const refused = isUnscorable
    ? {
        [config.scorers.length > 0 ? 'config.scorers.0.by' : 'config.checker.type']:
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
    <Page
      title="New run"
      subtitle="Sends items to a model, and scores its answers."
      actions={
        draft !== null && (
          <Group gap="xs">
            <Dimmed>As you left it.</Dimmed>
            <SmallButton
              label="Begin again"
              onClick={() => {
                forget();
                onAgain();
              }}
            />
          </Group>
        )
      }
    >
      <Grid gap="xl">
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Stack>
            <Group gap="sm" grow align="flex-start">
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
            </Group>
            <Fields form={form} fields={PROMPTS} />
            <Variants form={form} />
            <ProviderChoice form={form} fields={ofModel} />
            <Fields form={form} fields={NAME} />
            <Accordion
              multiple
              variant="contained"
              transitionDuration={0}
              value={[...new Set([...opened, ...wrong.map(({ key }) => key)])]}
              onChange={setOpened}
            >
              {parts.map(({ key, label, fields }) => (
                <Accordion.Item key={key} value={key}>
                  <Accordion.Control>
                    {label}
                    <Dimmed size="xs" lineClamp={2} className="break">
                      {heldBy(fields, values)}
                    </Dimmed>
                  </Accordion.Control>
                  <Accordion.Panel>
                    {key === 'matrix' ? (
                      <MatrixFields form={form} models={models} />
                    ) : key === 'scoring' ? (
                      <Stack gap="sm">
                        {config.scorers.length > 0 && <ScorerList form={form} />}
                        {config.scorers.length === 0 && <Fields form={form} fields={ofChecker} />}
                        <JudgeFields form={form} currency={currency} />
                        {config.scorers.length === 0 && <ScorerList form={form} />}
                        <Fields form={form} fields={SCORING.filter((field) => !isOfChecker(field))} />
                      </Stack>
                    ) : (
                      <Fields
                        form={form}
                        fields={fields}
                        cols={key === 'pace' ? { base: 1, xs: 2, lg: 3 } : 1}
                      />
                    )}
                  </Accordion.Panel>
                </Accordion.Item>
              ))}
            </Accordion>
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 7 }}>
          <StartPanel
            request={request}
            requests={requests}
            failure={failure}
            marked={isShownAtFields ? (isUnscorable ? 'part Scoring' : 'fields') : null}
            start={start}
            onTry={tryItems}
            isTrying={trial.isPending}
          />
          <Playground
            items={items}
            onItems={(next) => {
              trial.reset();
              setItems(next);
            }}
            datasetId={values.datasetId}
            ids={ids}
            trial={trial}
          />
        </Grid.Col>
      </Grid>
    </Page>
  );
}

const PROMPTS = partFields('prompt');
const SCORING = partFields('scoring');
const isOfChecker = ({ name }: Field): boolean => name === 'config.checker_mode';

const NAME: readonly Field[] = [
  {
    name: 'name',
    label: 'Name of the run',
    description: 'Tells it from other runs of the same model',
    maxLength: 255,
  },
];

function heldBy(fields: readonly Field[], values: RunForm): string {
  return fields
    .flatMap(({ name, label, on, off }) => {
      const [value, empty] = [valueAt(values, name), valueAt(EMPTY_FORM, name)];
      if (value === empty || value === '' || value === null || value === false || value === undefined)
        return [];
      if (Array.isArray(value)) return value.length === 0 ? [] : [`${label}: ${value.join(', ')}`];
      if (on !== undefined && value === off) return [];
      return [value === true || on !== undefined ? label : `${label}: ${String(value)}`];
    })
    .join(' · ');
}

function useFormParts(values: RunForm) {
  const { datasetId, version, config } = values;
  const { provider, judge, checker, scorers } = config;
  const dataset = useQuery(datasetQuery(datasetId, version ?? undefined)).data;
  const overview = useQuery(overviewQuery(dataset)).data;
  const pointers = ['/answer', ...(overview?.metaKeys ?? []).map((pointer) => `/meta${pointer}`)];
  const suggestions: Readonly<Record<string, readonly string[]>> = {
    ...useModelSuggestions('provider', provider),
    'provider.pointer': pointers,
    'select.sections': dataset?.sections.map(({ name }) => name) ?? [],
    'select.types': [...(overview?.types.keys() ?? [])],
    'select.tags': [...(overview?.tags.keys() ?? [])],
    'select.item_ids': overview?.ids ?? [],
  };
  const scoring = [
    ...(scorers.length === 0 ? checkerFields(checker.type, '') : scorers.flatMap(scorerFields)),
    ...judgeFields(judge.type, String(valueAt(values, 'config.price.currency'))),
  ];
  const pace = partFields('pace').filter(
    ({ name }) => asksModel(provider.type) || !name.startsWith('config.reuse.'),
  );
  const parts = [
    { key: 'matrix', label: 'Several models', fields: [FURTHER_MODELS] },
    { key: 'selection', label: 'Which items', fields: suggesting(partFields('selection'), suggestions) },
    { key: 'scoring', label: 'Scoring', fields: scoring },
    { key: 'pace', label: 'Repetitions, pace and price', fields: pace },
  ];
  return {
    parts,
    models: suggestions['provider.model'] ?? [],
    ofModel: suggesting(providerFields(provider.type), suggestions),
    ids: overview?.ids ?? [],
    /** Where the items hold outputs of a pretend model; undefined if they hold none. */
    pretended: pointers.find((pointer) => pointer === PRETENDED),
  };
}

/** Where the items of the example hold the outputs of a pretend model. */
const PRETENDED = '/meta/pretend_output';
