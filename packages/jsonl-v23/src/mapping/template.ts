import { JsonlError } from '../errors.ts';

/** Longer than any prompt that a person writes. */
export const MAX_TEMPLATE_LENGTH: number = 64 * 1024;
const MAX_PLACEHOLDERS = 1000;
/** Longest text that a template makes, in characters: as long as the longest row. */
const MAX_TEXT_LENGTH: number = 64 * 1024 * 1024;

export interface Template {
  /** One more than there are columns. */
  readonly texts: readonly string[];
  readonly columns: readonly string[];
}

/** Parses `{column}` placeholders. `{{` and `}}` are braces, and so is a closing brace that nothing opens. */
export function parseTemplate(template: string, key: string): Template {
  if (template.length > MAX_TEMPLATE_LENGTH) {
    throw invalid(key, `must have at most ${MAX_TEMPLATE_LENGTH} characters, got ${template.length}`);
  }
  const texts: string[] = [];
  const columns: string[] = [];
  let text = '';
  let at = 0;
  for (const match of template.matchAll(/\{\{|\}\}|\{([^{}]*)\}?/g)) {
    const [token, column] = match;
    text += template.slice(at, match.index);
    at = match.index + token.length;
    if (column === undefined) {
      text += token[0];
      continue;
    }
    if (!token.endsWith('}')) {
      throw invalid(
        key,
        `has an opening brace without a closing one at character ${match.index + 1}; write {{ for a brace`,
      );
    }
    if (column === '')
      throw invalid(key, `has a placeholder without a column at character ${match.index + 1}`);
    texts.push(text);
    columns.push(column);
    text = '';
  }
  if (columns.length > MAX_PLACEHOLDERS) {
    throw invalid(key, `must have at most ${MAX_PLACEHOLDERS} placeholders, got ${columns.length}`);
  }
  return { texts: [...texts, text + template.slice(at)], columns };
}

export function templateColumns(template: string | undefined, key: string): readonly string[] {
  return template === undefined ? [] : parseTemplate(template, key).columns;
}

/** Fills in the texts of the columns; null if one of them is null. */
export function fillTemplate(
  { texts, columns }: Template,
  textOf: (column: string) => string | null,
  row: number,
): string | null {
  const parts = [texts[0] ?? ''];
  let length = parts[0]?.length ?? 0;
  for (const [index, column] of columns.entries()) {
    const value = textOf(column);
    if (value === null) return null;
    const text = texts[index + 1] ?? '';
    length += value.length + text.length;
    if (length > MAX_TEXT_LENGTH) {
      const message = `The text of the template is longer than ${MAX_TEXT_LENGTH} characters in dataset row ${row}`;
      throw new JsonlError('invalid_row', message, { row });
    }
    parts.push(value, text);
  }
  return parts.join('');
}

function invalid(key: string, problem: string): JsonlError {
  return new JsonlError('invalid_mapping', `${key} ${problem}`, { path: `/mapping/${key}` });
}
