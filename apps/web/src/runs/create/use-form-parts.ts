import { useOverview } from '../../datasets/overview/use-overview.ts';
import { useDataset } from '../../datasets/use-dataset.ts';
import type { Field } from '../../ui/form/fields.tsx';
import { useRecentRuns } from '../use-runs.ts';
import {
  asksModel,
  checkerFields,
  judgeFields,
  partFields,
  providerFields,
  suggesting,
} from './config-fields.ts';
import { FURTHER_MODELS } from './matrix-fields.tsx';
import { modelSuggestions, useProviders } from './provider/suggestions-of.ts';
import { type RunForm, valueAt } from './run-form.ts';
import { scorerFields } from './scoring.tsx';

/** A part of the form that can be closed. */
interface FormPart {
  readonly key: string;
  readonly label: string;
  readonly fields: readonly Field[];
  readonly cols?: { readonly base: number; readonly xs: number; readonly lg: number };
}

/** The fields of the form, with what recent runs and the dataset suggest. */
export function useFormParts(values: RunForm): {
  readonly parts: readonly FormPart[];
  readonly ofModel: readonly Field[];
  /** Names of models to suggest. */
  readonly models: readonly string[];
  /** Where the items hold outputs of a pretend model; undefined where they hold none. */
  readonly pretended: string | undefined;
  /** Ids of items to suggest. */
  readonly ids: readonly string[];
} {
  const { datasetId, version, config } = values;
  const { provider, judge, checker, scorers } = config;
  const dataset = useDataset(datasetId, version ?? undefined).data;
  const overview = useOverview(dataset).data;
  const recent = useRecentRuns();
  const pointers = ['/answer', ...(overview?.metaKeys ?? []).map((pointer) => `/meta${pointer}`)];
  const suggestions: Readonly<Record<string, readonly string[]>> = {
    ...modelSuggestions('provider', provider, recent, useProviders()),
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
  return {
    parts: [
      { key: 'matrix', label: 'Several models', fields: [FURTHER_MODELS] },
      { key: 'selection', label: 'Which items', fields: suggesting(partFields('selection'), suggestions) },
      { key: 'scoring', label: 'Scoring', fields: scoring },
      {
        ...{ key: 'pace', label: 'Repetitions, pace and price', fields: pace },
        cols: { base: 1, xs: 2, lg: 3 },
      },
    ],
    models: suggestions['provider.model'] ?? [],
    ofModel: suggesting(providerFields(provider.type), suggestions),
    ids: overview?.ids ?? [],
    pretended: pointers.find((pointer) => pointer === PRETENDED),
  };
}

/** Where the items of the example hold the outputs of a pretend model. */
const PRETENDED = '/meta/pretend_output';
