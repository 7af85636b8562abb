import { HubError } from './errors.ts';
import { asMap, parseYaml, type YamlMap } from './parse-yaml.ts';

/**
 * Reads a dataset's metadata: the YAML front matter of its `README.md`, with the keys of `.huggingface.yaml` in place
 * of those of the same name. Absent files and an absent front matter give an empty map.
 *
 * @throws HubError `hub_unsupported_dataset` where the YAML cannot be read
 */
export function parseDatasetCard(readme: string | null, huggingfaceYaml: string | null = null): YamlMap {
  const front = readme === null ? null : frontMatter(readme);
  const card =
    front === null
      ? {}
      : toMap(parseYaml(front.text, { file: 'README.md', firstLine: front.line }), 'README.md');
  if (huggingfaceYaml === null) return card;
  const file = '.huggingface.yaml';
  return { ...card, ...toMap(parseYaml(huggingfaceYaml, { file }), file) };
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

function toMap(value: ReturnType<typeof parseYaml>, file: string): YamlMap {
  if (value === null) return {};
  const map = asMap(value);
  if (map === null) {
    throw new HubError('hub_unsupported_dataset', 'Metadata cannot be read: it is not a map', {
      place: { file },
    });
  }
  return map;
}
