import { type MappableFeature, type Mapping, suggestFromNames } from '@svc/jsonl-v23/mapping';
import { asMap, type YamlMap, type YamlValue } from '../repository/metadata.ts';

type MutableMapping = { -readonly [Name in keyof Mapping]: Mapping[Name] };

/**
 * How a dataset's columns become items: by a `field_spec` of the repository's `eval.yaml` that fits the columns, else by
 * their names and types. Null if no column looks like a prompt.
 */
export function suggestDatasetMapping(
  features: readonly MappableFeature[],
  evalYaml: YamlValue = null,
  options: { subset?: string; split?: string } = {},
): Mapping | null {
  const used = features.filter(({ dtype }) => dtype !== 'null');
  return specifiedMapping(features, evalYaml, options) ?? suggestFromNames(used)?.mapping ?? null;
}

/** Of the first task in `eval.yaml` that is for this subset and split and whose columns exist; null if there is none. */
export function specifiedMapping(
  features: readonly MappableFeature[],
  evalYaml: YamlValue,
  { subset = 'default', split }: { subset?: string; split?: string } = {},
): Mapping | null {
  const columns = new Set(features.map(({ name }) => name));
  const rank = (task: YamlMap): number =>
    ((task['config'] ?? 'default') === subset ? 0 : 2) + ((task['split'] ?? 'test') === split ? 0 : 1);
  for (const task of readTasks(evalYaml).sort((a, b) => rank(a) - rank(b))) {
    const mapping = fromFieldSpec(asMap(task['field_spec']), columns);
    if (mapping !== null) return mapping;
  }
  return null;
}

function readTasks(content: YamlValue): YamlMap[] {
  const tasks = asMap(content)?.['tasks'];
  return Array.isArray(tasks) ? tasks.map(asMap).filter((task) => task !== null) : [];
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
  if (meta.length > 0) mapping.metaColumns = Object.fromEntries(meta.map((name) => [name, name]));
  return mapping;
}
