import type { ItemParts } from '@svc/jsonl-v23';
import { RunError } from '../run-error.ts';
import { plainText, readCanonicalText, textAt } from './canonical-text.ts';

/** Prompts of a run, which replace the prompts of its items. */
export interface RunPrompts {
  /** Replaces the system prompt of each item; null keeps it. */
  readonly system: string | null;
  /** Makes the prompt of each item; null keeps it. */
  readonly template: string | null;
}

/** The texts of a template and the values of one item in order; `{prompt}` and `{choices}` are not filled in yet. */
export type FilledTemplate = readonly (string | { readonly field: 'prompt' | 'choices' })[];

const MAX_PROMPT_CHARS = 16 * 1024 * 1024;

/** `{{`, `}}`, `{field}`, or a brace that is none of them. */
const TOKEN = /\{\{|\}\}|\{([A-Za-z0-9_.-]{1,200})\}|[{}]/g;

/** What a template may name: `prompt`, `choices`, `id`, `type`, and members of `inputs` and `meta`. */
const FIELD = /^(?:prompt|choices|id|type|(?:inputs|meta)(?:\.[A-Za-z0-9_-]+)+)$/;

/**
 * The first problem of a template as the end of a sentence, such as `must not name {x}`; undefined for a valid one.
 */
export function templateProblem(template: string): string | undefined {
  for (const [token, field] of template.matchAll(TOKEN)) {
    if (token === '{' || token === '}') return `must write a brace that is text as ${token}${token}`;
    if (field !== undefined && !FIELD.test(field)) {
      return `must name only {prompt}, {choices}, {id}, {type}, {inputs.<name>} and {meta.<name>}, got {${field}}`;
    }
  }
  return undefined;
}

/**
 * Puts the values of an item into a template. A value that is not text becomes JSON text.
 *
 * @throws RunError `field_missing` if the item lacks a value; `item_too_large` if the prompt would be too long
 */
export function fillTemplate(template: string, parts: ItemParts): FilledTemplate {
  const pieces: FilledTemplate[number][] = [];
  const values = new Map<string, string>();
  let chars = template.length;
  let end = 0;
  for (const { 0: token, 1: field, index } of template.matchAll(TOKEN)) {
    pieces.push(template.slice(end, index));
    end = index + token.length;
    if (field === undefined) pieces.push(token.slice(0, 1));
    else if (field === 'prompt' || field === 'choices') pieces.push({ field });
    else {
      const value = values.get(field) ?? fieldValue(field, parts);
      values.set(field, value);
      chars += value.length;
      if (chars > MAX_PROMPT_CHARS) throw promptTooLong();
      pieces.push(value);
    }
  }
  pieces.push(template.slice(end));
  return pieces;
}

/**
 * The prompt of a filled template.
 *
 * @throws RunError `field_missing` for `{prompt}` or `{choices}` without a value; `item_too_large`
 */
export function templateText(
  pieces: FilledTemplate,
  values: Readonly<Record<'prompt' | 'choices', string | undefined>>,
): string {
  let text = '';
  for (const piece of pieces) {
    const part = typeof piece === 'string' ? piece : values[piece.field];
    if (part === undefined) throw missing(typeof piece === 'string' ? '' : piece.field);
    if (text.length + part.length > MAX_PROMPT_CHARS) throw promptTooLong();
    text += part;
  }
  return text;
}

export function placesChoices(template: FilledTemplate): boolean {
  return template.some((piece) => typeof piece !== 'string' && piece.field === 'choices');
}

function fieldValue(field: string, parts: ItemParts): string {
  const json = textAt(parts, `/${field.replaceAll('.', '/')}`);
  if (json === undefined || json === 'null') throw missing(field);
  return json.startsWith('"') ? plainText(readCanonicalText(json)) : json;
}

function missing(field: string): RunError {
  return new RunError('field_missing', `The item has no value for {${field}} of prompt_template.`);
}

function promptTooLong(): RunError {
  return new RunError('item_too_large', `The prompt must have at most ${MAX_PROMPT_CHARS} characters.`);
}
