import type { ByteSource } from '@svc/tabular';
import { parseYamlApart } from '#platform';
import { AccessCheck, isPinned } from '../cache/file-cache.ts';
import { HubError } from '../errors.ts';
import type { Requester } from '../http/requester.ts';
import { type ListedFile, listFiles } from '../repository/list-files.ts';
import {
  asMap,
  checkMetadata,
  invalidMetadata,
  type YamlLocation,
  type YamlMap,
  type YamlValue,
} from '../repository/metadata.ts';
import { HubFile } from '../repository/open-file.ts';
import { openRepository, type Repository } from '../repository/open-repository.ts';
import { CONVERTED_REVISION, convertedLayout, layOutFiles } from '../splits/layout.ts';
import type { DatasetLayout } from '../splits/subset.ts';

/** The default branch, and the only one that the hub exports as Parquet. */
export const DEFAULT_REVISION = 'main';
/** Metadata is at the beginning of a card, and the largest known ones have some 100 KiB. */
const MAX_CARD_BYTES = 4 * 1024 * 1024;
/** Known ones have some hundred bytes; a longer one is not worth the time to read it. */
const MAX_EVAL_LENGTH = 16 * 1024;

export interface Snapshot {
  readonly commit: string;
  readonly layout: DatasetLayout;
  /** Splits (`subset/split`) that the Parquet export has in part: only their first rows. */
  readonly partialSplits: readonly string[];
  /** Whether this is the hub's Parquet export. */
  readonly isConverted: boolean;
  open(path: string, requester: Requester): ByteSource;
}

/** @param openExport opens the Parquet export, which replaces files that cannot be read; null if there is none */
export async function openSnapshot(
  requester: Requester,
  repository: Repository,
  openExport: (card: YamlMap) => Promise<Snapshot | null>,
): Promise<{ snapshot: Snapshot; evalYaml: YamlValue }> {
  const listed = await listFiles(requester, repository);
  const files = listOf(requester, repository, listed);
  const known = cardOf(repository);
  const [readme, huggingfaceYaml, evalYaml] = await Promise.all([
    known === null ? files.readText('README.md') : null,
    files.readText('.huggingface.yaml'),
    files.readText('eval.yaml'),
  ]);
  const usedEval = await readEval(evalYaml);
  try {
    if (known !== null) checkMetadata(known, 'README.md');
    const card = { ...known, ...(await parseDatasetCard(readme, huggingfaceYaml)) };
    const layout = await layOutFiles(listed, card, { repository: repository.id });
    return { snapshot: files.snapshot(layout, null), evalYaml: usedEval };
  } catch (error) {
    const isUnsupported = error instanceof HubError && error.code === 'hub_unsupported_dataset';
    const snapshot = isUnsupported ? await openExport({}) : null;
    if (snapshot === null) throw error;
    return { snapshot, evalYaml: usedEval };
  }
}

/** The content of `eval.yaml`; null if it cannot be read: a suggestion is optional. */
async function readEval(text: string | null): Promise<YamlValue> {
  if (text === null || text.length > MAX_EVAL_LENGTH) return null;
  try {
    return await parseYamlApart(text, { file: 'eval.yaml' });
  } catch (error) {
    if (error instanceof HubError) return null;
    throw error;
  }
}

/** Opens the Parquet export of a dataset; null if the hub has none. @throws HubError; the signal's reason */
export async function openConverted(
  requester: Requester,
  { id }: Repository,
  card: YamlMap,
): Promise<Snapshot | null> {
  try {
    const repository = await openRepository(requester, id, CONVERTED_REVISION);
    const listed = await listFiles(requester, repository);
    const { layout, partialSplits } = await convertedLayout(listed.values(), card);
    if (layout.subsets.length === 0) return null;
    return listOf(requester, repository, listed).snapshot(layout, partialSplits);
  } catch (error) {
    if (error instanceof HubError && error.code === 'hub_revision_not_found') return null;
    throw error;
  }
}

function listOf(
  requester: Requester,
  { id: dataset, commit, isPublic }: Repository,
  files: ReadonlyMap<string, ListedFile>,
) {
  const access = new AccessCheck();
  const open = ({ path, size, sha256 }: ListedFile, by: Requester): ByteSource => {
    const { cache, token } = by.context;
    const file = new HubFile(by, { dataset, commit, path, byteLength: size, sha256 });
    if (cache === undefined || !isPinned(commit)) return file;
    return cache.open(file, { dataset, commit, reader: isPublic ? 'everybody' : { token, access } });
  };
  return {
    /** @param partialSplits of a Parquet export; null for the dataset's own files */
    snapshot: (layout: DatasetLayout, partialSplits: readonly string[] | null): Snapshot => ({
      ...{ commit, layout, partialSplits: partialSplits ?? [], isConverted: partialSplits !== null },
      open: (path, by) => {
        const file = files.get(path);
        if (file === undefined) throw new RangeError(`The repository has no file ${path}.`);
        return open(file, by);
      },
    }),
    /** A text file, only its first megabytes if it is very long; null if there is none. */
    async readText(path: string): Promise<string | null> {
      const file = files.get(path);
      if (file === undefined) return null;
      const end = Math.min(file.size, MAX_CARD_BYTES);
      return new TextDecoder().decode(await open(file, requester).readRange(0, end));
    },
  };
}

/**
 * The dataset card's metadata as the hub has parsed it, which saves a request. It is the default branch's card; without
 * members about files, it may be incomplete.
 */
function cardOf({ revision, about }: Repository): YamlMap | null {
  const card = about['cardData'];
  if (revision !== DEFAULT_REVISION || typeof card !== 'object' || card === null) return null;
  const { configs, dataset_info: info } = card as Record<string, unknown>;
  return configs || info ? (card as YamlMap) : null;
}

/**
 * The YAML front matter of its `README.md`, in which keys of `.huggingface.yaml` replace equal ones. Long cards are parsed
 * on a thread. Absent files and an absent front matter give an empty map.
 */
export async function parseDatasetCard(
  readme: string | null,
  huggingfaceYaml: string | null = null,
): Promise<YamlMap> {
  const front = readme === null ? null : frontMatter(readme);
  const [card, override] = await Promise.all([
    front && parseMap(front.text, { file: 'README.md', firstLine: front.line }),
    huggingfaceYaml === null ? null : parseMap(huggingfaceYaml, { file: '.huggingface.yaml' }),
  ]);
  return { ...card, ...override };
}

async function parseMap(text: string, location: YamlLocation): Promise<YamlMap> {
  const value = await parseYamlApart(text, location);
  const map = value === null ? {} : asMap(value);
  if (map === null) throw invalidMetadata('it is not a map', { location: { file: location.file } });
  return map;
}

/** The text between the first line `---` and the next one, and the line on which it begins. */
function frontMatter(readme: string): { text: string; line: number } | null {
  const opening = /^\uFEFF?\s*---[\r\n]+/.exec(readme)?.[0];
  if (opening === undefined) return null;
  const closing = /^---$/m.exec(readme.slice(opening.length).replaceAll('\r\n', '\n').replaceAll('\r', '\n'));
  if (closing === null) return null;
  const text = closing.input.slice(0, closing.index);
  return { text, line: opening.split(/\r\n|\r|\n/).length };
}
