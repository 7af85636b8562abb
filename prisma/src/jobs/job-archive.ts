import type pg from 'pg';
import { rowParts, uuidBytes } from '../database/copy-format.ts';
import { CopyIn } from '../database/copy-in.ts';
import { boundedText } from '../database/item-size.ts';

/** Archives are stored in chunks of about a megabyte. */
const MAX_CHUNK_BYTES = 64 * 1024 * 1024;

/** Stores the archive of a job. @throws what `archive` throws; the signal's reason; StoreError `unavailable` */
export async function writeArchive(
  client: pg.ClientBase,
  jobId: string,
  archive: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const copy = new CopyIn(client, 'COPY job_chunks FROM STDIN (FORMAT binary)', signal);
  await copy.writeAll(chunkRows(jobId, archive));
  await copy.end();
}

/** Reads a chunk of an archive, counted from 0; null after the last one. */
export async function readChunk(pool: pg.Pool, jobId: string, index: number): Promise<Uint8Array | null> {
  const { rows } = await pool.query<{ bytes: Uint8Array | null }>(
    `SELECT ${boundedText('bytes', MAX_CHUNK_BYTES)} AS bytes FROM job_chunks WHERE job_id = $1 AND index = $2`,
    [jobId, index],
  );
  if (rows[0]?.bytes === null) {
    throw new Error(`Chunk ${index} of job ${jobId} must have at most ${MAX_CHUNK_BYTES} bytes.`);
  }
  return rows[0]?.bytes ?? null;
}

/** Rows of `job_chunks`. */
async function* chunkRows(id: string, archive: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const jobId = uuidBytes(id);
  let index = 0;
  for await (const bytes of archive) {
    yield* rowParts([jobId, index, bytes]);
    index += 1;
  }
}
