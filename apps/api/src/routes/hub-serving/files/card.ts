import { splitNames } from '@svc/jsonl-v23';
import { isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import {
  type DatasetSummary,
  type Run,
  readStoredJson,
  type SectionFiles,
  type SectionRange,
  type Store,
  type StoredSection,
} from '@svc/service/store';
import { scanItems, TASK_KINDS } from '@svc/service/store/rows';
import { featuresOf, type HubColumn } from './hub-columns.ts';
import { groupItems } from './plan-files.ts';

export interface CardFacts {
  readonly repository: string;
  readonly dataset: DatasetSummary;
  readonly sections: readonly StoredSection[];
  readonly columns: readonly HubColumn[] | null;
  readonly files: readonly SectionFiles[];
  /** Runs of the version whose scores are published, the newest first. */
  readonly published: readonly Run[];
}

/** The metadata at the beginning of the card, which `datasets` reads: configuration, splits and features. */
export function cardData(facts: CardFacts): { readonly [key: string]: YamlValue } {
  const { dataset, sections, columns, files } = facts;
  const names = splitNames(sections.map(({ name }) => name));
  const bytes = new Map(files.map(({ sectionId, lineBytes }) => [sectionId, lineBytes]));
  const splits = sections
    .map(({ id, itemCount }, index) => ({ name: names[index] ?? '', itemCount, bytes: bytes.get(id) ?? 0 }))
    // `load_dataset` fails on an empty split.
    .filter(({ itemCount }) => itemCount > 0);
  return {
    pretty_name: dataset.name,
    ...statedTerms(dataset),
    size_categories: [sizeCategory(sections.reduce((sum, { itemCount }) => sum + itemCount, 0))],
    ...(splits.length === 0
      ? {}
      : {
          configs: [
            {
              config_name: 'default',
              default: true,
              data_files: splits.map(({ name }) => ({ split: name, path: `data/${name}-*.parquet` })),
            },
          ],
        }),
    ...(columns === null
      ? {}
      : {
          dataset_info: {
            features: featuresOfCard(columns),
            splits: splits.map(({ name, itemCount, bytes }) => {
              return { name, num_bytes: bytes, num_examples: itemCount };
            }),
            dataset_size: splits.reduce((sum, { bytes }) => sum + bytes, 0),
          },
        }),
    ...modelIndex(facts),
  };
}

function statedTerms({ schema = '' }: Pick<DatasetSummary, 'schema'>): { readonly [key: string]: YamlValue } {
  if (!schema.includes('"info"')) return {};
  const { info } = readSchema(schema);
  const stated = isJsonObject(info) ? info : {};
  const known = ['license', 'language'].flatMap((name) => {
    const value = stated[name];
    const texts = (Array.isArray(value) ? value : [value]).filter(isTerm).slice(0, MAX_TERMS);
    return texts.length === 0 ? [] : [[name, Array.isArray(value) ? texts : (texts[0] ?? '')] as const];
  });
  return Object.fromEntries(known);
}

const MAX_TERMS = 500;
const isTerm = (value: unknown): value is string => typeof value === 'string' && value.length <= 100;

const SIZES = ['1K', '10K', '100K', '1M', '10M', '100M', '1B', '10B', '100B', '1T'] as const;

function sizeCategory(items: number): string {
  const at = SIZES.findIndex((_, index) => items < 10 ** (index + 3));
  if (at === 0) return 'n<1K';
  return at === -1 ? 'n>1T' : `${SIZES[at - 1]}<n<${SIZES[at]}`;
}

/** The published scores in the form that cards have for results: of each run, mean and pass rate. */
function modelIndex({ repository, dataset, published }: CardFacts): { readonly [key: string]: YamlValue } {
  if (published.length === 0) return {};
  const source = { type: repository, name: dataset.name, revision: dataset.versionHash.slice(0, 40) };
  const models = published.map(({ id, name, config, scores: { mean, passRate } }) => {
    const metrics = [
      { type: 'mean', value: mean },
      { type: 'pass_rate', value: passRate },
    ].flatMap(({ type, value }) => (value === null ? [] : [{ type, name: type, value }]));
    return {
      name: modelOf(config) ?? name ?? id,
      results: [
        { task: { type: 'text-generation' }, dataset: source, metrics, source: { name: `run ${id}` } },
      ],
    };
  });
  return { 'model-index': models };
}

function modelOf(config: string): string | null {
  const value = readStoredJson(config);
  const { model, provider } = isJsonObject(value) ? value : {};
  const asked = isJsonObject(provider) ? [provider['model'], provider['label']] : [];
  return [model, ...asked].find((one) => typeof one === 'string') ?? null;
}

function featuresOfCard(columns: readonly HubColumn[]): readonly YamlValue[] {
  const stored = new Map(Object.entries(featuresOf(columns)));
  return columns.map(({ name, type }) => {
    if (type === 'strings') return { name, list: 'string' };
    return type === 'images' ? { name, list: 'image' } : { name, dtype: dtypeOf(stored.get(name)) };
  });
}

function dtypeOf(stored: unknown): string {
  const { _type, dtype } = stored as { readonly _type: string; readonly dtype?: string };
  return dtype ?? _type.toLowerCase();
}

/** `README.md`: the metadata, then what the dataset is and how to read it. */
export function cardText(facts: CardFacts): string {
  const { repository, dataset, sections, files } = facts;
  const names = splitNames(sections.map(({ name }) => name));
  const tables = new Map(files.map(({ sectionId, tableCount }) => [sectionId, tableCount]));
  const rows = sections.map(({ id, name, itemCount }, index) => {
    return `| ${cell(name)} | ${cell(names[index] ?? '')} | ${itemCount} | ${tables.get(id) ?? 0} |`;
  });
  const { description } = dataset;
  return [
    '---',
    toYaml(cardData(facts)),
    '---',
    '',
    `# ${cell(dataset.name)}`,
    '',
    ...(description === null ? [] : [description, '']),
    `- Version: ${dataset.version}`,
    `- Version hash: \`${dataset.versionHash}\``,
    `- Source: ${cell(sourceOf(dataset))}`,
    '',
    '| section | split | items | files |',
    '|---|---|---|---|',
    ...rows,
    '',
    'An empty section has files and no split. `items/<split>.jsonl` has the canonical items, one a line.',
    '',
    '```python',
    'from datasets import load_dataset',
    '',
    `dataset = load_dataset("${repository}", revision="${dataset.versionHash.slice(0, 40)}")`,
    '```',
    '',
  ].join('\n');
}

const MAX_NAMED_FILES = 20;
/** A larger schema is not read for its card. */
const MAX_READ_SCHEMA = 4 * 1024 * 1024;

function readSchema(schema: string): {
  readonly config?: Readonly<Record<string, unknown>>;
  readonly files?: readonly { readonly name?: unknown; readonly sha256?: unknown }[] | null;
  readonly info?: JsonValue;
} {
  return JSON.parse(schema.length > MAX_READ_SCHEMA ? '{}' : schema);
}

function sourceOf({ source, schema }: DatasetSummary): string {
  const { config, files } = readSchema(schema);
  const named = (files ?? []).slice(0, MAX_NAMED_FILES).map(({ name, sha256 }) => {
    return typeof sha256 === 'string' ? `${name} (SHA-256 ${sha256})` : String(name);
  });
  const more = (files?.length ?? 0) - named.length;
  const names = [...named, ...(more > 0 ? [`${more} more`] : [])].join(', ');
  if (source === 'file') return names === '' ? 'uploaded files' : `the files ${names}`;
  const whole = source === 'hub' ? hubSourceOf(config ?? {}) : 'an uploaded package';
  return names === '' ? whole : `${whole}; added: the files ${names}`;
}

function hubSourceOf(config: Readonly<Record<string, unknown>>): string {
  const names = ['path', 'subset', 'split', 'revision', 'resolved_revision'];
  const known = names.flatMap((name) =>
    typeof config[name] === 'string' ? [`${name} ${config[name]}`] : [],
  );
  return `the hub, ${known.join(', ')}`;
}

const cell = (text: string): string => text.replaceAll(/[\r\n]+/g, ' ').replaceAll(/[\\`|<>[\]]/g, '\\$&');

export type YamlValue =
  | string
  | number
  | boolean
  | readonly YamlValue[]
  | { readonly [key: string]: YamlValue };

/** Characters that YAML 1.1 does not allow in text, or takes for line breaks. */
const UNPRINTABLE = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|\p{Cs}/gu;

/** Writes a value as YAML in block style. Texts are between double quotes, so that none is taken for another type. */
function toYaml(value: YamlValue): string {
  return linesOf(value).join('\n');
}

function linesOf(value: YamlValue): readonly string[] {
  if (typeof value === 'string') return [quoted(value)];
  if (typeof value !== 'object') return [String(value)];
  if (isList(value)) {
    if (value.length === 0) return ['[]'];
    return value.flatMap((entry) => linesOf(entry).map((line, at) => `${at === 0 ? '- ' : '  '}${line}`));
  }
  const entries = Object.entries(value);
  if (entries.length === 0) return ['{}'];
  return entries.flatMap(([key, member]) => {
    const lines = linesOf(member);
    const isInline = typeof member !== 'object' || lines[0] === '[]' || lines[0] === '{}';
    return isInline ? [`${key}: ${lines[0]}`] : [`${key}:`, ...lines.map((line) => `  ${line}`)];
  });
}

const isList = (value: object): value is readonly YamlValue[] => Array.isArray(value);

function quoted(text: string): string {
  return JSON.stringify(text.toWellFormed()).replaceAll(
    UNPRINTABLE,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Items that one task of Inspect has: a split, or parts of it, with items of one kind. */
export interface EvalTask {
  readonly kind: keyof typeof TASKS;
  readonly split: string;
  /** What `load_dataset` takes for it. */
  readonly items: string;
}

const TASKS = {
  choices: { id: 'multiple_choice', solver: 'multiple_choice', scorer: 'choice' },
  criteria: { id: 'model_graded_qa', solver: 'generate', scorer: 'model_graded_qa' },
  text: { id: 'match', solver: 'generate', scorer: 'match' },
} as const;
const KINDS = ['choices', 'criteria', 'text'] as const;

/** Items of mixed sections that are looked at, and parts of a split that a task may have. */
const MAX_MIXED_ITEMS = 10_000;
const MAX_SLICES = 1_000;

/** Looks at each item of a mixed section; one that is larger than others, or changes its kind too often, has no tasks. */
export async function planTasks(
  hubFiles: Pick<Store['hubFiles'], 'lineSizes' | 'ranges' | 'readItems'>,
  sections: readonly (StoredSection & { readonly split: string; readonly kinds: number })[],
  signal: AbortSignal,
): Promise<readonly EvalTask[]> {
  const tasks: EvalTask[] = [];
  let left = MAX_MIXED_ITEMS;
  for (const { id, split, itemCount, kinds } of sections) {
    const only = KINDS.find((kind) => kinds === TASK_KINDS[kind]);
    if (only !== undefined) tasks.push({ kind: only, split, items: split });
    if (only !== undefined || kinds === TASK_KINDS.none || itemCount > left) continue;
    left -= itemCount;
    const slices = await slicesOf(hubFiles, await hubFiles.ranges([id], signal), signal);
    for (const kind of KINDS) {
      const some = slices.get(TASK_KINDS[kind]) ?? [];
      if (some.length === 0 || some.length > MAX_SLICES) continue;
      const items = some.map(([from, to]) => `${split}[${from}:${to}]`).join('+');
      tasks.push({ kind, split, items });
    }
  }
  return tasks;
}

async function slicesOf(
  hubFiles: Pick<Store['hubFiles'], 'lineSizes' | 'readItems'>,
  ranges: readonly SectionRange[],
  signal: AbortSignal,
): Promise<ReadonlyMap<number, readonly (readonly [from: number, to: number])[]>> {
  const slices = new Map<number, [number, number][]>();
  let at = 0;
  for await (const group of groupItems(hubFiles, ranges, signal)) {
    for (const { kind } of scanItems(await hubFiles.readItems(group.ranges, signal))) {
      const ofKind = slices.get(kind) ?? [];
      slices.set(kind, ofKind);
      const last = ofKind.at(-1);
      if (last?.[1] === at) last[1] = at + 1;
      else ofKind.push([at, at + 1]);
      at += 1;
    }
  }
  return slices;
}

/** `eval.yaml`, from which Inspect makes tasks of a dataset. */
export function evalYaml(name: string, tasks: readonly EvalTask[]): string {
  const isSplit = new Set(tasks.map(({ split }) => split)).size > 1;
  const listed = tasks.map(({ kind, split, items }): YamlValue => {
    const { id, solver, scorer } = TASKS[kind];
    return {
      id: isSplit ? `${split}-${id}` : id,
      ...{ config: 'default', split: items },
      field_spec: {
        ...{ input: 'prompt', target: 'target' },
        ...(kind === 'choices' ? { choices: 'choice_texts' } : {}),
      },
      solvers: [{ name: solver }],
      scorers: [{ name: scorer }],
    };
  });
  return `${toYaml({ name, evaluation_framework: 'inspect-ai', tasks: listed })}\n`;
}
