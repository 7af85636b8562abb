import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Bench } from '../bench.ts';
import { writePackage } from '../generate.ts';
import { load, startServer } from '../http-load.ts';
import { type Measured, measure } from '../measure.ts';

const SIZES: readonly { readonly count: number; readonly label: string }[] = [
  { count: 1, label: 'packages of one item' },
  { count: 10, label: 'packages of ten items' },
];

/** A multipart form with one file. */
function formOf(file: Buffer): { readonly headers: Record<string, string>; readonly body: Buffer } {
  const boundary = randomUUID();
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="small.pkg.zip"\r\nContent-Type: application/zip\r\n\r\n`;
  return {
    headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
    body: Buffer.concat([Buffer.from(head), file, Buffer.from(`\r\n--${boundary}--\r\n`)]),
  };
}

/** Uploads per second of 20 clients, against a hand-written program that does one transaction for each. */
export async function smallUploadCases(bench: Bench, rounds: number): Promise<Measured[]> {
  const { folder, psql } = bench;
  await bench.empty();
  await using plain = await startServer({
    file: fileURLToPath(new URL('plain-server.ts', import.meta.url)),
    log: join(folder, 'plain.log'),
    databaseUrl: psql.PGURL,
  });
  return await bench.withService(async (service) => {
    const measured: Measured[] = [];
    for (const { count, label } of SIZES) {
      const archive = join(folder, `of-${count}.pkg.zip`);
      await writePackage(archive, count);
      const request = { method: 'POST', ...formOf(await readFile(archive)) } as const;
      const to = ({ url }: { readonly url: string }) => load(`${url}/datasets/upload`, request);
      await to(service);
      await to(plain);
      measured.push(
        await measure(
          {
            name: `uploads per second, ${label} from 20 clients`,
            baseline:
              'hand-written Express, busboy, jszip and pg: one transaction each, no checks, no hashes',
            target: 0.8,
            higherIsBetter: true,
            runOurs: () => to(service),
            runBaseline: () => to(plain),
          },
          rounds,
        ),
      );
    }
    return measured;
  });
}
