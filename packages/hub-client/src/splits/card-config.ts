import { shorten } from '@svc/tabular';
import { asMap, type YamlMap, type YamlValue } from '../repository/metadata.ts';
import { isSplitName } from './split-slice.ts';
import { unsupported } from './subset.ts';

/** The card's `configs` by their names. @throws HubError `hub_unsupported_dataset` */
export function readConfigs(value: YamlValue | undefined): Map<string, YamlMap> {
  const configs = new Map<string, YamlMap>();
  if (value === undefined || value === null) return configs;
  if (!Array.isArray(value)) throw unsupported('The card\'s "configs" must be a list.');
  for (const item of value) {
    const config = asMap(item);
    const name = config?.['config_name'];
    if (config === null || typeof name !== 'string' || name === '') {
      throw unsupported('Each of the card\'s "configs" must have a "config_name" that is a text.');
    }
    configs.set(name, config);
  }
  return configs;
}

export function readInfos(value: YamlValue | undefined): Map<string, YamlMap> {
  const infos = new Map<string, YamlMap>();
  for (const item of Array.isArray(value) ? value : [value]) {
    const info = asMap(item);
    if (info === null) continue;
    const name = info['config_name'];
    infos.set(typeof name === 'string' ? name : 'default', info);
  }
  return infos;
}

/** `data_dir` as the beginning of paths: empty, or a folder with its slash. @throws HubError `hub_unsupported_dataset` */
export function readBase(value: YamlValue): string {
  if (value === null || value === '') return '';
  if (typeof value !== 'string') throw unsupported('"data_dir" must be a text.');
  const folder = relativePath(value);
  return folder === '' || folder.endsWith('/') ? folder : `${folder}/`;
}

/** `data_files` as patterns by split; null if there is none. @throws HubError `hub_unsupported_dataset` */
export function readPatterns(value: YamlValue): Map<string, string[]> | null {
  if (value === null) return null;
  if (typeof value === 'string') return new Map([['train', [value]]]);
  const invalid = unsupported('"data_files" must be a text, a list of texts, or a list of {split, path}.');
  if (!Array.isArray(value)) throw invalid;
  if (value.every((item) => typeof item === 'string')) return new Map([['train', value]]);
  const patterns = new Map<string, string[]>();
  for (const item of value) {
    const entry = asMap(item);
    const split = entry?.['split'];
    const path = entry?.['path'];
    const paths = Array.isArray(path) ? path : [path];
    if (entry === null || Object.keys(entry).length !== 2 || typeof split !== 'string') throw invalid;
    if (!paths.every((text) => typeof text === 'string')) throw invalid;
    if (!isSplitName(split)) throw unsupported(`Invalid split name ${shorten(split)}.`);
    if (patterns.has(split)) throw unsupported(`Duplicate split ${shorten(split)} in "data_files".`);
    patterns.set(split, paths);
  }
  return patterns;
}

/**
 * A path inside the repository, without `.` parts. Cards are untrusted input: their paths must not lead to other hosts,
 * other repositories or other files.
 */
export function relativePath(path: string): string {
  if (
    /^[a-z][a-z0-9+.-]*:/i.test(path) ||
    path.includes('::') ||
    path.startsWith('/') ||
    path.includes('\\')
  ) {
    throw unsupported(`${shorten(path)} is not a path inside the repository.`);
  }
  const parts = path
    .split('/')
    .filter((part, index, all) => part !== '.' && (part !== '' || index === all.length - 1));
  if (parts.includes('..')) throw unsupported(`${shorten(path)} leads out of the repository.`);
  return parts.join('/');
}

export function declaredRows(info: YamlMap): Map<string, number> {
  const rows = new Map<string, number>();
  for (const item of Array.isArray(info['splits']) ? info['splits'] : []) {
    const split = asMap(item);
    const name = split?.['name'];
    const count = split?.['num_examples'];
    if (typeof name === 'string' && Number.isSafeInteger(count) && Number(count) >= 0)
      rows.set(name, Number(count));
  }
  return rows;
}
