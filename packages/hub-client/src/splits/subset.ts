import { shorten } from '@svc/tabular';
import { HubError } from '../errors.ts';
import type { YamlMap, YamlValue } from '../repository/metadata.ts';
import type { DataFormat } from './file-kind.ts';

export interface RepositoryFile {
  readonly path: string;
  readonly size: number;
}

/** A split of a subset and its files, in the order in which their rows follow each other. */
export interface SubsetSplit {
  readonly name: string;
  readonly files: readonly RepositoryFile[];
  /** Rows that the dataset card declares; the card may be out of date. */
  readonly declaredRows: number | null;
}

/** A subset ("config") of a dataset. */
export interface Subset {
  readonly name: string;
  /** The kind of its files, by the names of the `datasets` library (`csv`, `imagefolder`, ...). */
  readonly kind: string | null;
  /** Whether the card marks it with `default: true`. */
  readonly markedDefault: boolean;
  /** The format of the files; null if `problem` says why they are not read. */
  readonly format: DataFormat | null;
  readonly splits: readonly SubsetSplit[];
  /** Parameters of the format from the card: `sep`, `encoding`, ... Unknown keys are ignored. */
  readonly params: YamlMap;
  /** Features in the form of the card, for `featuresFromYaml`. */
  readonly declaredFeatures: YamlValue;
  /** Why this subset cannot be read; the others still can. */
  readonly problem: HubError | null;
}

export interface DatasetLayout {
  readonly subsets: readonly Subset[];
  /** Paths of files in no split of any subset, except those of the repository itself. */
  readonly ignoredFiles: readonly string[];
  /** All metadata of the dataset card: license, language, tags and the like. */
  readonly card: YamlMap;
}

export function unsupported(reason: string): HubError {
  return new HubError('hub_unsupported_dataset', reason);
}

const MAX_LISTED = 20;

/**
 * The named subset, else the only one, the one called `default`, or the one marked `default: true`.
 *
 * @throws HubError `hub_subset_not_found` with the names to choose from; the subset's own problem, if it has one
 */
export function chooseSubset(layout: DatasetLayout, name?: string): Subset {
  const named =
    name === undefined ? defaultSubsets(layout) : layout.subsets.filter((other) => other.name === name);
  const [subset, ...more] = named;
  if (subset === undefined) {
    const available = layout.subsets.map((subset) => subset.name);
    const missing = name === undefined ? 'Name a subset' : `Subset ${shorten(name)} not found`;
    const names = available.slice(0, MAX_LISTED).join(', ');
    const others = available.length > MAX_LISTED ? `, … (${available.length})` : '';
    throw new HubError('hub_subset_not_found', `${missing}: the dataset has ${names}${others}.`, {
      details: { available },
    });
  }
  if (more.length > 0) {
    const available = named.map(({ name }) => name);
    const names = available.slice(0, MAX_LISTED).join(' and ');
    throw new HubError('hub_subset_not_found', `Name a subset: the dataset has several defaults, ${names}.`, {
      details: { available },
    });
  }
  if (subset.problem !== null) throw subset.problem;
  return subset;
}

/** The subset that is read if none is named, or several that look like it: one of them must be named then. */
export function defaultSubsets({ subsets }: DatasetLayout): readonly Subset[] {
  if (subsets.length === 1) return subsets;
  return subsets.filter(({ name, markedDefault }) => name === 'default' || markedDefault);
}
