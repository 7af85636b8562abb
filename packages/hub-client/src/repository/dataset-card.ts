import { parseYamlApart } from '#platform';
import { asMap, invalidMetadata, type YamlLocation, type YamlMap, type YamlValue } from './parse-yaml.ts';

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
  const texts = cardTexts(readme, huggingfaceYaml);
  return joinCard(
    await Promise.all(
      texts.map(async (part) => ({ ...part, value: await parseYamlApart(part.text, part.location) })),
    ),
  );
}

interface CardText {
  readonly text: string;
  readonly location: YamlLocation;
}

/** The texts to parse, in ascending precedence. */
function cardTexts(readme: string | null, huggingfaceYaml: string | null): CardText[] {
  const front = readme === null ? null : frontMatter(readme);
  const texts: CardText[] = [];
  if (front !== null)
    texts.push({ text: front.text, location: { file: 'README.md', firstLine: front.line } });
  if (huggingfaceYaml !== null)
    texts.push({ text: huggingfaceYaml, location: { file: '.huggingface.yaml' } });
  return texts;
}

function joinCard(parts: ReadonlyArray<CardText & { value: YamlValue }>): YamlMap {
  let card: YamlMap = {};
  for (const { value, location } of parts) card = { ...card, ...toMap(value, location.file) };
  return card;
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

function toMap(value: YamlValue, file: string): YamlMap {
  if (value === null) return {};
  const map = asMap(value);
  if (map === null) throw invalidMetadata('it is not a map', { location: { file } });
  return map;
}
