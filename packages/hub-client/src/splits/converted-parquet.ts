import { compareUtf8 } from '@svc/jsonl-v23/internal';
import { asMap, type YamlMap } from '../repository/parse-yaml.ts';
import { compareSplits } from './default-splits.ts';
import { createPacer } from './pacer.ts';
import type { DatasetLayout, RepositoryFile, Subset } from './subset.ts';

/** Revision at which the hub keeps the Parquet copies that it makes of the default branch. */
export const CONVERTED_REVISION = 'refs/convert/parquet';

/**
 * Reads the layout of the hub's converted Parquet branch: `{subset}/{split}/0000.parquet`. A copy of only the first
 * rows is called `partial-{split}`, a copy of very many files `{split}-part0`, `{split}-part1`, ...
 *
 * @param card metadata of the dataset card, whose default subset stays the default
 * @returns the layout, and the splits (`subset/split`) that hold only the first rows
 */
export async function convertedLayout(
  files: Iterable<RepositoryFile>,
  card: YamlMap,
): Promise<{ layout: DatasetLayout; partialSplits: string[] }> {
  const subsets = new Map<string, Map<string, Array<{ part: number; file: RepositoryFile }>>>();
  const partialSplits = new Set<string>();
  await createPacer()(files, (file) => {
    // No split name holds a dash, so the two forms cannot be anything else.
    const match = /^([^/]+)\/(partial-)?([^/]+?)(?:-part([0-9]+))?\/[^/]+\.parquet$/.exec(file.path);
    if (match === null) return;
    const [, subset = '', partial, split = '', part = '0'] = match;
    const splits = subsets.get(subset) ?? new Map<string, Array<{ part: number; file: RepositoryFile }>>();
    subsets.set(subset, splits);
    const found = splits.get(split);
    if (found === undefined) splits.set(split, [{ part: Number(part), file }]);
    else found.push({ part: Number(part), file });
    if (partial !== undefined) partialSplits.add(`${subset}/${split}`);
  });
  const marked = defaultName(card);
  const layout: DatasetLayout = {
    subsets: [...subsets].map(
      ([name, splits]): Subset => ({
        name,
        kind: 'parquet',
        markedDefault: name === marked,
        format: 'parquet',
        splits: [...splits]
          .sort(([a], [b]) => compareSplits(a, b))
          .map(([split, found]) => ({
            name: split,
            files: found
              .sort((a, b) => a.part - b.part || compareUtf8(a.file.path, b.file.path))
              .map(({ file }) => file),
            declaredRows: null,
          })),
        params: {},
        declaredFeatures: null,
        problem: null,
      }),
    ),
    ignoredFiles: [],
    card,
  };
  return { layout, partialSplits: [...partialSplits] };
}

function defaultName(card: YamlMap): string | null {
  const configs = card['configs'];
  for (const config of Array.isArray(configs) ? configs : []) {
    const { default: isDefault, config_name: name } = asMap(config) ?? {};
    if (isDefault === true && typeof name === 'string') return name;
  }
  return null;
}
