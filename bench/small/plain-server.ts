/**
 * What a programmer writes in an afternoon: Express, busboy, jszip and pg. It keeps a dataset and its items in one transaction,
 * and has none of the checks, limits, hashes and canonical texts of the service.
 *
 * `node plain-server.ts`, with DATABASE_URL.
 */
import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import busboy from 'busboy';
import express, { type Request } from 'express';
import JSZip from 'jszip';
import pg from 'pg';

const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 20 });
await pool.query(`
  DROP TABLE IF EXISTS plain_items, plain_datasets;
  CREATE TABLE plain_datasets (id uuid PRIMARY KEY, name text, item_count int, created_at timestamptz DEFAULT now());
  CREATE TABLE plain_items (dataset_id uuid, order_index int, item jsonb, PRIMARY KEY (dataset_id, order_index))`);

async function receiveFile(request: Request): Promise<{ name: string; bytes: Buffer }> {
  const form = busboy({ headers: request.headers });
  const { promise, resolve, reject } = Promise.withResolvers<{ name: string; bytes: Buffer }>();
  form.on('file', async (_field, file: Readable, info) => {
    const chunks: Buffer[] = [];
    for await (const chunk of file) chunks.push(chunk as Buffer);
    resolve({ name: info.filename ?? 'upload', bytes: Buffer.concat(chunks) });
  });
  form.on('error', reject);
  request.pipe(form);
  return await promise;
}

async function readItems(archive: Buffer): Promise<string[]> {
  const zip = await JSZip.loadAsync(archive);
  const items: string[] = [];
  for (const entry of zip.file(/^sections\/.*\.jsonl$/)) {
    for (const line of (await entry.async('string')).split('\n')) {
      if (line.trim() !== '') items.push(JSON.stringify(JSON.parse(line)));
    }
  }
  return items;
}

const app = express();
app.post('/datasets/upload', async (request, response) => {
  const { name, bytes } = await receiveFile(request);
  const items = await readItems(bytes);
  const id = randomUUID();
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await client.query('INSERT INTO plain_datasets (id, name, item_count) VALUES ($1, $2, $3)', [
      ...[id, name, items.length],
    ]);
    await client.query(
      'INSERT INTO plain_items SELECT $1, position, item FROM unnest($2::jsonb[]) WITH ORDINALITY AS i (item, position)',
      [id, items],
    );
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
  response.status(201).json({ id, name, item_count: items.length });
});
const server = app.listen(0, '127.0.0.1', () => {
  process.stderr.write(`port ${(server.address() as { port: number }).port}\n`);
});
