import type { DataFormat } from '@svc/tabular/internal';
import { HubError } from '../errors.ts';
import type { YamlMap, YamlValue } from '../repository/yaml-value.ts';

/** A file of the repository, by its path from the root. */
export interface RepositoryFile {
  readonly path: string;
  /** Size in bytes. */
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

/** The subsets and splits of a repository. */
export interface DatasetLayout {
  readonly subsets: readonly Subset[];
  /** Paths of files in no split of any subset, except those of the repository itself. */
  readonly ignoredFiles: readonly string[];
  /** All metadata of the dataset card: license, language, tags and the like. */
  readonly card: YamlMap;
}

/** The error for files or a card that cannot be read. */
export function unsupported(reason: string): HubError {
  return new HubError('hub_unsupported_dataset', reason);
}
