import { useOverview } from '../../datasets/overview/use-overview.ts';
import { useDataset } from '../../datasets/use-dataset.ts';
import type { Field } from '../../ui/form/fields.tsx';
import { useRecentRuns } from '../use-runs.ts';
import { suggestionsOf, withProviders } from './provider/suggestions-of.ts';
import { useProviders } from './provider/use-providers.ts';
import {
  checkerFields,
  type FieldGroups,
  FURTHER_MODELS,
  judgeFields,
  PACE_FIELDS,
  providerFields,
  selectionFields,
} from './run-fields.ts';
import type { RunForm } from './run-form.ts';
import { scorerFields } from './scoring/scorer-fields.ts';

/** A part of the form that can be closed. */
interface FormPart {
  readonly key: string;
  readonly label: string;
  readonly fields: readonly Field<RunForm>[];
  readonly cols?: { readonly base: number; readonly xs: number; readonly lg: number };
}

/** The fields of the form, with what recent runs and the dataset suggest. */
export function useFormParts({ provider, datasetId, version, judge, currency, model, scorers }: RunForm): {
  readonly parts: readonly FormPart[];
  readonly ofModel: FieldGroups<RunForm>;
  /** Names of models to suggest. */
  readonly models: readonly string[];
  /** Where the items hold outputs of a pretend model; undefined where they hold none. */
  readonly pretended: string | undefined;
  /** Ids of items to suggest. */
  readonly ids: readonly string[];
} {
  const dataset = useDataset(datasetId, version ?? undefined).data;
  const overview = useOverview(dataset).data;
  const recent = useRecentRuns();
  const known = {
    sections: dataset?.sections.map(({ name }) => name) ?? [],
    types: [...(overview?.types.keys() ?? [])],
    tags: [...(overview?.tags.keys() ?? [])],
    ids: overview?.ids ?? [],
  };
  const pointers = ['/answer', ...(overview?.metaKeys ?? []).map((pointer) => `/meta${pointer}`)];
  const ofJudge = judgeFields(judge.type, '/config/judge', currency);
  const parts: readonly FormPart[] = [
    { key: 'matrix', label: 'Several models', fields: FURTHER_MODELS },
    { key: 'selection', label: 'Which items', fields: selectionFields(known) },
    {
      key: 'scoring',
      label: 'Scoring',
      fields: [
        ...(scorers.length === 0
          ? checkerFields('', '/config/checker')
          : scorers.flatMap((_, at) => scorerFields(at))),
        ...ofJudge.common,
        ...ofJudge.rare,
      ],
    },
    {
      key: 'pace',
      label: 'Repetitions, pace and price',
      fields: PACE_FIELDS,
      cols: { base: 1, xs: 2, lg: 3 },
    },
  ];
  const suggestions = withProviders(suggestionsOf(recent, provider), useProviders(), model);
  return {
    parts,
    models: suggestions.models,
    ofModel: providerFields(provider, { ...suggestions, pointers }),
    ids: known.ids,
    pretended: pointers.find((pointer) => pointer === PRETENDED),
  };
}

/** Where the items of the example hold the outputs of a pretend model. */
const PRETENDED = '/meta/pretend_output';
