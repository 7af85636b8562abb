import type { MappableFeature, Mapping } from '@svc/jsonl-v23';
import { HubError } from '../errors.ts';
import { asMap, parseYaml, type YamlMap, type YamlValue } from '../repository/parse-yaml.ts';

// What benchmarks call their columns, best first; compared without case, dashes and underscores.
const PROMPT_NAMES = names(
  'question prompt problem instruction query input inputs messages conversation conversations problem_statement task ' +
    'user_prompt question_text text sentence utterance ctx goal premise',
);
const TARGET_NAMES = names(
  'answer target expected_answer correct_answer answer_key final_answer label expected_output expected gold ' +
    'ground_truth reference reference_answer best_answer answers output response completion solution canonical_solution',
);
const CHOICE_NAMES = names('choices options answer_choices multiple_choices endings candidates');
const SYSTEM_NAMES = names('system_prompt system system_message');
const ID_NAMES = names('id task_id question_id example_id item_id uid uuid qid');
const CRITERIA_NAMES = names('criteria rubric rubrics grading_criteria');
const META_NAMES = names(
  'subject category topic domain difficulty level source type subfield language task_type explanation rationale hint',
);

const MESSAGES = /^(?:large_)?list<struct<(?=.*\brole: )(?=.*\bcontent: )/;
const CHOICES = /^(?:(?:large_)?list<|struct<|json$|string$|large_string$|string_view$)/;
const TEXT = /^(?:string|large_string|string_view)$/;
const SCALAR = /^(?:string|large_string|string_view|u?int\d+|bool)$/;

type MutableMapping = { -readonly [Name in keyof Mapping]: Mapping[Name] };

/**
 * Suggests how a dataset's columns become items: by the `field_spec` of the repository's `eval.yaml`, where it has one that
 * fits the columns, else by the columns' names and types.
 *
 * @param evalYaml text of `eval.yaml`; what cannot be read is passed over
 * @param options.subset, options.split of several tasks in `eval.yaml` the one for these is taken
 * @returns null where no column looks like a prompt
 *
 * @example suggestMapping([{ name: 'question', dtype: 'string' }, { name: 'answer', dtype: 'string' }])
 * // { promptColumn: 'question', answerColumn: 'answer' }
 */
export function suggestMapping(
  features: readonly MappableFeature[],
  evalYaml: string | null = null,
  options: { subset?: string; split?: string } = {},
): Mapping | null {
  const specified = evalYaml === null ? null : fromEvalYaml(evalYaml, features, options);
  return specified ?? fromNames(features);
}

function fromNames(features: readonly MappableFeature[]): Mapping | null {
  const free = new Map(features.map((feature) => [feature.name, feature]));
  const take = (
    wanted: readonly string[],
    fits: (feature: MappableFeature) => boolean,
  ): string | undefined => {
    for (const name of wanted) {
      const found = [...free.values()].find((feature) => plain(feature.name) === name && fits(feature));
      if (found !== undefined) {
        free.delete(found.name);
        return found.name;
      }
    }
    return undefined;
  };
  const choices = take(CHOICE_NAMES, ({ dtype }) => CHOICES.test(dtype));
  const texts = features.filter(({ dtype }) => TEXT.test(dtype));
  const prompt =
    take(
      PROMPT_NAMES,
      ({ dtype, classLabelNames }) => (TEXT.test(dtype) || MESSAGES.test(dtype)) && !classLabelNames,
    ) ?? (texts.length === 1 ? texts[0]?.name : undefined);
  if (prompt === undefined) return null;
  free.delete(prompt);

  const mapping: MutableMapping = { promptColumn: prompt };
  const answer = take(TARGET_NAMES, ({ dtype }) => dtype !== 'null' && !isMedia(dtype));
  if (answer !== undefined) mapping.answerColumn = answer;
  if (choices !== undefined) {
    mapping.choicesColumn = choices;
    mapping.defaultType = 'multiple_choice';
  }
  const system = take(SYSTEM_NAMES, ({ dtype }) => TEXT.test(dtype));
  if (system !== undefined) mapping.systemPromptColumn = system;
  const id = take(ID_NAMES, ({ dtype }) => TEXT.test(dtype) || /^u?int\d+$/.test(dtype));
  if (id !== undefined) mapping.idColumn = id;
  const image = features.find(({ name, dtype }) => dtype === 'image' && free.has(name));
  if (image !== undefined) mapping.assetsColumn = image.name;
  const criteria = features.filter(({ name }) => free.has(name) && CRITERIA_NAMES.includes(plain(name)));
  if (criteria.length > 0) mapping.criteriaColumns = criteria.map(({ name }) => name);
  const meta = features.filter(
    ({ name, dtype }) => free.has(name) && SCALAR.test(dtype) && META_NAMES.includes(plain(name)),
  );
  if (meta.length > 0) mapping.metaColumns = sameNames(meta.map(({ name }) => name));
  return mapping;
}

/** Keys of `meta` that are named after their columns. */
function sameNames(columns: readonly string[]): Record<string, string> {
  return Object.fromEntries(columns.map((column) => [column, column]));
}

/** The mapping of the first task that is for this subset and split and whose columns exist. */
function fromEvalYaml(
  text: string,
  features: readonly MappableFeature[],
  { subset = 'default', split }: { subset?: string; split?: string },
): Mapping | null {
  const columns = new Set(features.map(({ name }) => name));
  const tasks = readTasks(text);
  const rank = (task: YamlMap): number =>
    ((task['config'] ?? 'default') === subset ? 0 : 2) + ((task['split'] ?? 'test') === split ? 0 : 1);
  for (const task of [...tasks].sort((a, b) => rank(a) - rank(b))) {
    const mapping = fromFieldSpec(asMap(task['field_spec']), columns);
    if (mapping !== null) return mapping;
  }
  return null;
}

function readTasks(text: string): YamlMap[] {
  try {
    const tasks = asMap(parseYaml(text, { file: 'eval.yaml' }))?.['tasks'];
    return Array.isArray(tasks) ? tasks.map(asMap).filter((task) => task !== null) : [];
  } catch (error) {
    // A suggestion is optional; without this file it is only less precise.
    if (error instanceof HubError) return [];
    throw error;
  }
}

function fromFieldSpec(spec: YamlMap | null, columns: ReadonlySet<string>): Mapping | null {
  const column = (value: YamlValue | undefined): string | undefined =>
    typeof value === 'string' && columns.has(value) ? value : undefined;
  const promptColumn = column(spec?.['input']);
  if (spec === null || promptColumn === undefined) return null;
  const mapping: MutableMapping = { promptColumn };
  // A target such as "literal:A" is the same for all rows and names no column.
  const target = column(spec['target']);
  if (target !== undefined) mapping.answerColumn = target;
  const choices = column(spec['choices']);
  if (choices !== undefined) mapping.choicesColumn = choices;
  if (spec['choices'] !== undefined && spec['choices'] !== null) mapping.defaultType = 'multiple_choice';
  const id = column(spec['id']);
  if (id !== undefined) mapping.idColumn = id;
  const listed = [spec['metadata'], Array.isArray(spec['choices']) ? spec['choices'] : []].flat();
  const meta = [...new Set(listed.map(column).filter((name) => name !== undefined))];
  if (meta.length > 0) mapping.metaColumns = sameNames(meta);
  return mapping;
}

function isMedia(dtype: string): boolean {
  return /^(?:image|audio|video|pdf|mesh|nifti|binary|large_binary)$/.test(dtype);
}

function names(text: string): string[] {
  return text.split(' ').map(plain);
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[-_ ]/g, '');
}
