import { splitNames } from '@svc/jsonl-v23/internal';
import type { DatasetSummary, SectionFiles, StoredSection } from '@svc/store';
import { featuresOf, type HubColumn } from './hub-columns.ts';
import { toYaml, type YamlValue } from './to-yaml.ts';

/** What a card describes. */
export interface CardFacts {
  /** `svc/<handle or id>` */
  readonly repository: string;
  readonly dataset: DatasetSummary;
  readonly sections: readonly StoredSection[];
  readonly columns: readonly HubColumn[];
  /** The tables of each section. */
  readonly tables: readonly SectionFiles[];
}

/** The metadata at the beginning of the card, which `datasets` reads: configuration, splits and features. */
export function cardData({ dataset, sections, columns, tables }: CardFacts): {
  readonly [key: string]: YamlValue;
} {
  const names = splitNames(sections.map(({ name }) => name));
  const bySection = new Map(tables.map((table) => [table.sectionId, table]));
  const splits = sections
    .map(({ id, itemCount }, index) => ({ name: names[index] ?? '', itemCount, table: bySection.get(id) }))
    // `load_dataset` fails on an empty split.
    .filter(({ itemCount }) => itemCount > 0);
  const total = (bytes: 'byteLength' | 'tableBytes'): number =>
    splits.reduce((sum, { table }) => sum + (table?.[bytes] ?? 0), 0);
  const stored = new Map(Object.entries(featuresOf(columns)));
  const features = columns.map(({ name, type }) => {
    return type === 'images' ? { name, list: 'image' } : { name, dtype: dtypeOf(stored.get(name)) };
  });
  return {
    pretty_name: dataset.name,
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
    dataset_info: {
      features,
      splits: splits.map(({ name, itemCount, table }) => {
        return { name, num_bytes: table?.tableBytes ?? 0, num_examples: itemCount };
      }),
      download_size: total('byteLength'),
      dataset_size: total('tableBytes'),
    },
  };
}

function dtypeOf(stored: unknown): string {
  const { _type, dtype } = stored as { readonly _type: string; readonly dtype?: string };
  return dtype ?? _type.toLowerCase();
}

/** `README.md`: the metadata, then what the dataset is and how to read it. */
export function cardText(facts: CardFacts): string {
  const { repository, dataset, sections, tables } = facts;
  const names = splitNames(sections.map(({ name }) => name));
  const bySection = new Map(tables.map((table) => [table.sectionId, table]));
  const rows = sections.map(({ id, name, itemCount }, index) => {
    const files = bySection.get(id)?.fileCount ?? 0;
    return `| ${cell(name)} | ${cell(names[index] ?? '')} | ${itemCount} | ${files} |`;
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

/** Where a dataset came from, in words. */
function sourceOf({ source, schema }: DatasetSummary): string {
  if (source !== 'hub') return source === 'file' ? 'uploaded files' : 'an uploaded package';
  const { config = {} } = JSON.parse(schema) as { readonly config?: Readonly<Record<string, unknown>> };
  const names = ['path', 'subset', 'split', 'resolved_revision'];
  const known = names.flatMap((name) =>
    typeof config[name] === 'string' ? [`${name} ${config[name]}`] : [],
  );
  return `the hub, ${known.join(', ')}`;
}

/** A text in one line of Markdown. */
const cell = (text: string): string => text.replaceAll(/[\r\n]+/g, ' ').replaceAll(/[\\`|<>[\]]/g, '\\$&');
