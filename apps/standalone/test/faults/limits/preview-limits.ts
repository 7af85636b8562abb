import { expect } from 'vitest';
import { outcomeOf, type ServiceResponse } from '../stored-datasets.ts';
import { count, LIMITS, type LimitCase, type Target } from './limit-case.ts';
import { postJson } from './work-limits.ts';

/** A preview of a dataset of one column with these cells. */
async function previewOf(
  { service, hub }: Target,
  name: string,
  cells: readonly string[],
  limit?: number,
): Promise<ServiceResponse> {
  const rows = cells.map((cell) => `${JSON.stringify({ q: cell })}\n`);
  hub.add({ id: `org/${name}`, files: { 'train.jsonl': rows.join('') } });
  return await postJson(`${service.url}/datasets/hub/preview`, {
    path: `org/${name}`,
    ...(limit === undefined ? {} : { limit }),
  });
}

/** A preview of this size in bytes: the length of a cell follows from a preview without the cell's text. */
const previewOfBytes =
  (bytes: number) =>
  async (target: Target, index: number): Promise<string> => {
    const name = `${bytes}-${index.toString().padStart(3, '0')}`;
    const cells = ['é"'.repeat(500), 'x'.repeat(1000)];
    const empty = await previewOf(target, `empty-${name}`, [...cells, '']);
    const rest = bytes - Buffer.byteLength(empty.text);
    const { status, text, body } = await previewOf(target, `exact-${name}`, [...cells, 'y'.repeat(rest)]);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(LIMITS.SVC_MAX_PREVIEW_BYTES);
    expect(body.samples).toHaveLength(3);
    return `${status}, ${body.truncated_cells.length === 0 ? 'all cells whole' : 'cells shortened'}`;
  };

/** A preview of this many rows. */
const previewOfRows =
  (limit: number) =>
  async (target: Target): Promise<string> => {
    const answer = await previewOf(target, 'rows', Array<string>(200).fill('x'), limit);
    return answer.status === 200 ? `200 with ${answer.body.samples.length} rows` : outcomeOf(answer);
  };

const BYTES = LIMITS.SVC_MAX_PREVIEW_BYTES;
/** A quarter of the room is for the suggested mapping. */
const WHOLE_BYTES = 5000;

/** The limits of a preview. */
export const PREVIEW_LIMITS: readonly LimitCase[] = [
  {
    limit: 'answer of a preview: `SVC_MAX_PREVIEW_BYTES`',
    within: {
      what: count(WHOLE_BYTES, 'bytes'),
      outcome: '200, all cells whole',
      send: previewOfBytes(WHOLE_BYTES),
    },
    beyond: {
      what: count(BYTES + 1, 'bytes'),
      outcome: '200, cells shortened',
      send: previewOfBytes(BYTES + 1),
    },
  },
  {
    limit: 'most rows of a preview: `limit`',
    within: { what: count(100, 'rows'), outcome: '200 with 100 rows', send: previewOfRows(100) },
    beyond: { what: count(101, 'rows'), outcome: '400 invalid_request', send: previewOfRows(101) },
  },
  {
    limit: 'fewest rows of a preview: `limit`',
    within: { what: '1 row', outcome: '200 with 1 rows', send: previewOfRows(1) },
    beyond: { what: '0 rows', outcome: '400 invalid_request', send: previewOfRows(0) },
  },
];
