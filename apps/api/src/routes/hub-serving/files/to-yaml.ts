export type YamlValue =
  | string
  | number
  | boolean
  | readonly YamlValue[]
  | { readonly [key: string]: YamlValue };

/** Characters that YAML 1.1 does not allow in text, or takes for line breaks. */
const UNPRINTABLE = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|\p{Cs}/gu;

/**
 * Writes a value as YAML in block style. Texts are between double quotes, so that none is taken for another type.
 *
 * @param value its keys are plain words
 */
export function toYaml(value: YamlValue): string {
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
