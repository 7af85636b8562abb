import { parseYamlApart } from '#platform';
import { asMap, invalidMetadata, type YamlLocation, type YamlMap } from './parse-yaml.ts';

/**
 * Reads a dataset's metadata: the YAML front matter of its `README.md`, in which keys of `.huggingface.yaml` replace
 * equal ones. Long cards are parsed on a thread. Absent files and an absent front matter give an empty map.
 *
 * @throws HubError `hub_unsupported_dataset` if the YAML is invalid
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
