import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { buildZip } from '../../../../packages/pkg-format/test/build-zip.ts';
import { uploadForm } from './sample-packages.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies have every shape
type Body = any;

export interface ServiceResponse {
  readonly status: number;
  readonly code: string;
  readonly headers: Headers;
  readonly body: Body;
  readonly text: string;
}

/** Sends a request and reads the whole answer; a connection that breaks is the status 0 with the code of its error. */
export async function ask(url: string, init: RequestInit = {}): Promise<ServiceResponse> {
  // A test that has just made a large archive has not noticed which connections the service has closed in the meantime.
  await delay(1);
  try {
    const response = await fetch(url, init);
    const text = await response.text();
    const isJson = response.headers.get('content-type') === 'application/json';
    const body = isJson && text !== '' ? JSON.parse(text) : null;
    return { status: response.status, code: body?.code ?? '', headers: response.headers, body, text };
  } catch (error) {
    const { cause } = error as { cause?: { code?: string } };
    const code = cause?.code ?? (error as Error).name;
    return { status: 0, code, headers: new Headers(), body: null, text: '' };
  }
}

/** Uploads a package to a service. */
export function upload(
  { url }: { readonly url: string },
  name: string,
  archive: Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<ServiceResponse> {
  return ask(`${url}/datasets/upload`, { method: 'POST', body: uploadForm(archive, name), headers });
}

/** An answer in a word: its status, with its code where it is an error; `no answer` for a connection that broke. */
export function outcomeOf({ status, code }: ServiceResponse): string {
  if (status === 0) return 'no answer';
  return status < 400 ? String(status) : `${status} ${code}`;
}

/** A fate of a request, see {@link fateOf}. */
export const CLOSED = 'connection closed before a request was read';

/**
 * The same for a request with its own `X-Request-ID`, which distinguishes the kinds of `no answer`: a connection that was
 * refused, one that was closed before anything of the request was read, and a request that was read and has no answer.
 *
 * @param log lines that the service wrote, which name every request that it read
 */
export function fateOf(answer: ServiceResponse, requestId: string, log: readonly string[]): string {
  if (answer.status !== 0) return outcomeOf(answer);
  if (log.some((line) => line.includes(requestId))) return 'read and not answered';
  return answer.code === 'ECONNREFUSED' ? 'connection refused' : CLOSED;
}

/** Every dataset, through all pages. */
export async function listDatasets(url: string, headers: Record<string, string> = {}): Promise<Body[]> {
  const found: Body[] = [];
  let cursor = '';
  do {
    const { status, body, text } = await ask(`${url}/datasets?limit=100${cursor}`, { headers });
    if (status !== 200) throw new Error(`the list is not there: ${status} ${text}`);
    found.push(...body.data);
    cursor = body.meta.next_cursor === null ? '' : `&cursor=${encodeURIComponent(body.meta.next_cursor)}`;
  } while (cursor !== '');
  return found;
}

/** Uploads a package of one section with these lines, and gives the id of the dataset. */
export async function uploadLines(url: string, lines: readonly string[]): Promise<string> {
  const content = `${lines.join('\n')}\n`;
  const archive = buildZip({ entries: [{ name: 'sections/default.jsonl', content }] });
  const { status, body, text } = await ask(`${url}/datasets/upload`, {
    method: 'POST',
    body: uploadForm(archive as Uint8Array<ArrayBuffer>, 'lines'),
  });
  if (status !== 201) throw new Error(`the upload answered ${status}: ${text}`);
  return body.id;
}

let large: Uint8Array<ArrayBuffer> | undefined;

/** Stores a dataset larger than the buffers between the service and a client that does not read. */
export async function storeLarge(url: string, headers: Record<string, string> = {}): Promise<string> {
  if (large === undefined) {
    const lines = Array.from(
      { length: 100 },
      () => `{"inputs":{"prompt":"${randomBytes(50_000).toString('hex')}"}}`,
    );
    const entries = [{ name: 'sections/default.jsonl', content: lines.join('\n') }];
    large = buildZip({ entries }) as Uint8Array<ArrayBuffer>;
    // closed connections are noticed before one of them is reused
    await delay(50);
  }
  const { status, body, text } = await upload({ url }, 'large', large, headers);
  if (status !== 201) throw new Error(`the upload answered ${status}: ${text}`);
  return body.id;
}

const sha256 = (...parts: readonly (string | Uint8Array)[]): Buffer => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/**
 * What is wrong with a stored dataset: its items are read again, line by line, and its hash and counts are computed from
 * them by other code than the service's. Holds for items without files, whose canonical line is what is hashed.
 */
export async function verifyDataset(url: string, dataset: Body): Promise<string[]> {
  const problems: string[] = [];
  const sectionHashes: Buffer[] = [];
  let items = 0;
  for (const section of dataset.sections) {
    const { status, text } = await ask(
      `${url}/datasets/${dataset.id}/items.jsonl?section=${encodeURIComponent(section.name)}&version=${dataset.version}`,
    );
    if (status !== 200) problems.push(`section ${section.name} cannot be read: ${status}`);
    const lines = text.split('\n').filter((line) => line !== '');
    if (lines.length !== section.item_count)
      problems.push(`section ${section.name} has ${lines.length} items`);
    items += lines.length;
    sectionHashes.push(sha256(`svc-section-1\n${section.name}\n`, ...lines.map((line) => sha256(line))));
  }
  if (items !== dataset.item_count) problems.push(`${items} items instead of ${dataset.item_count}`);
  if (sha256('svc-dataset-1\n', ...sectionHashes).toString('hex') !== dataset.version_hash) {
    problems.push('the hash is another one');
  }
  return problems.map((problem) => `${dataset.name}: ${problem}`);
}

/** Rows that belong to no dataset and are not to be collected, table by table; all zero where nothing is left behind. */
export const LEFTOVERS = `
  SELECT
    (SELECT count(*)::int FROM items WHERE NOT EXISTS (SELECT FROM parts p WHERE p.id = items.part_id)
      AND NOT EXISTS (SELECT FROM loose_parts l WHERE l.part_id = items.part_id)) AS items,
    (SELECT count(*)::int FROM sections WHERE NOT EXISTS (SELECT FROM datasets d WHERE d.id = sections.dataset_id)) AS sections,
    (SELECT count(*)::int FROM datasets JOIN versions v USING (version) WHERE v.dataset_id = datasets.id AND v.item_count <> (
      SELECT count(*) FROM items JOIN parts p ON p.id = items.part_id WHERE p.dataset_id = datasets.id)) AS datasets`;
export const NO_LEFTOVERS: readonly object[] = [{ items: 0, sections: 0, datasets: 0 }];
