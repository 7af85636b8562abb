import type { JsonObject } from '@svc/jsonl-v23/json';
import type { Request } from 'express';
import { type BodyLimits, readBytes } from './read-json-body.ts';

const FORM = 'application/x-www-form-urlencoded';

/** Whether the body of a request is a form of plain fields. */
export const isForm = (request: Request): boolean => request.is(FORM) !== false;

/**
 * Reads a whole form as an object: a text for each field, or an array for a repeated one.
 *
 * @throws RequestError `body_too_large`, `request_timeout`
 */
export async function readFormBody(
  request: Request,
  limits: BodyLimits,
  signal: AbortSignal,
): Promise<JsonObject> {
  const fields = new URLSearchParams((await readBytes(request, limits, signal)).toString());
  const values = Map.groupBy(fields, ([name]) => name);
  const members = [...values].map(([name, entries]) => {
    const texts = entries.map(([, value]) => value);
    return [name, texts.length === 1 ? (texts[0] ?? '') : texts];
  });
  return Object.fromEntries(members) as JsonObject;
}
