import { JsonlError } from '../errors.ts';
import { canonicalByteLength } from '../item/encode-item.ts';
import { jsonPointer } from '../source-location.ts';
import { columnUses, type Mapping, metaEntries } from './mapping.ts';
import { parseTemplate } from './template.ts';

/** Every item repeats the constants of its mapping, so a few rows would become gigabytes. */
const MAX_CONSTANT_BYTES: number = 64 * 1024;
/** Every place repeats the cell. No prompt repeats one value as often; different columns are not limited by it. */
const MAX_COLUMN_PLACES = 20;

/**
 * Checks what a mapping adds to every item and how often it repeats a column.
 *
 * @throws JsonlError `invalid_mapping` with the path of the largest constant, or of the column; as `parseTemplate`
 */
export function checkMappingBounds(mapping: Mapping): void {
  const constants = constantBytes(mapping);
  const total = Object.values(constants).reduce((sum, bytes) => sum + bytes, 0);
  if (total > MAX_CONSTANT_BYTES) {
    const [key = '', bytes] = Object.entries(constants).sort(([, a], [, b]) => b - a)[0] ?? [];
    const message = `The constants of a mapping must have at most ${MAX_CONSTANT_BYTES} bytes together, got ${total} (${key} has ${bytes})`;
    throw new JsonlError('invalid_mapping', message, { path: jsonPointer(['mapping', key]) });
  }
  const places = new Map<string, number>();
  for (const { key, column } of columnUses(mapping)) {
    const count = (places.get(column) ?? 0) + 1;
    places.set(column, count);
    if (count <= MAX_COLUMN_PLACES) continue;
    const name = JSON.stringify(column.slice(0, 100));
    const message = `A mapping must use a column in at most ${MAX_COLUMN_PLACES} places, got more for ${name}`;
    throw new JsonlError('invalid_mapping', message, { path: jsonPointer(['mapping', key]) });
  }
}

/**
 * The bytes that each member of a mapping adds to every item as canonical JSON, by its key in requests. Keys of `meta`
 * with the names of their columns do not count: they come from the table.
 */
function constantBytes(mapping: Mapping): Readonly<Record<string, number>> {
  const { checker = null, tags = [], defaultType } = mapping;
  const keys = metaEntries(mapping).filter(([key, column]) => key !== column);
  return {
    checker: checker === null ? 0 : canonicalByteLength(checker),
    tags: tags.length === 0 ? 0 : canonicalByteLength(tags),
    default_type: defaultType === undefined ? 0 : canonicalByteLength(defaultType),
    prompt_template: templateBytes(mapping.promptTemplate, 'prompt_template'),
    system_prompt_template: templateBytes(mapping.systemPromptTemplate, 'system_prompt_template'),
    meta_columns: keys.reduce((sum, [key]) => sum + canonicalByteLength(key), 0),
  };
}

/** Bytes of the texts of a template as they are in an item. */
export function templateBytes(template: string | undefined, key: string): number {
  return template === undefined ? 0 : canonicalByteLength(parseTemplate(template, key).texts.join('')) - 2;
}
