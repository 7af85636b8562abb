import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { convertLegacyFile } from '@svc/pkg-format/node';
import { type Bench, sampleOf, WARM_UPS } from './bench.ts';
import { type Case, timed } from './measure.ts';
import { type Service, upload, uploadByCurl } from './service.ts';
import { shell } from './shell.ts';

/** One value a line, whatever it holds: no quote and no delimiter that JSON can contain. */
const RAW_LINES = `(FORMAT csv, QUOTE e'\\x01', DELIMITER e'\\x02')`;

/** The files that an item embeds, which are rows of another table, in base64 as its text had them. */
const EMBEDDED = `CASE WHEN linked_files IS NULL THEN NULL ELSE (SELECT string_agg(encode(bytes, 'base64'), ' ') FROM json_array_elements(linked_files) AS file JOIN assets ON sha256 = decode(file->>5, 'hex')) END`;

/** Items of one kind: a package of them, and a small one for the first requests to a service. */
export interface Items {
  /** What they are and how many, for the tables. */
  readonly label: string;
  readonly archive: string;
  readonly small: string;
}

/**
 * From the request to its 201, against psql loading the same lines into the barest table. By curl, which takes about as
 * much of the machine as psql does.
 */
export function uploadCase(bench: Bench, { label, archive, small }: Items): Case {
  const { psql } = bench;
  return {
    name: `upload, ${label}`,
    baseline: 'unzip -p | psql \\copy to one jsonb column',
    target: 1,
    runOurs: () =>
      bench.withService(async (service) => {
        for (let time = 0; time < WARM_UPS; time += 1) await upload(service, small);
        await bench.empty();
        return await sampleOf(service, () => uploadByCurl(service, archive));
      }),
    runBaseline: async () => {
      await shell(
        `psql -q "$PGURL" -c 'DROP TABLE IF EXISTS floor' -c 'CREATE TABLE floor (item jsonb)'`,
        psql,
      );
      await bench.empty();
      return timed(() =>
        shell(`unzip -p ${archive} | psql -q "$PGURL" -c "\\copy floor FROM stdin WITH ${RAW_LINES}"`, psql),
      );
    },
  };
}

/** A stored dataset to a file, against psql writing the same rows through gzip. */
export function exportCase(bench: Bench, { label, archive, small }: Items): Case {
  const { folder, psql } = bench;
  let stored: { readonly id: string } | undefined;
  const store = async (service: Service): Promise<{ readonly id: string }> => {
    if (stored === undefined) {
      await bench.empty();
      stored = await upload(service, archive);
    }
    return stored;
  };
  const download = async (service: Service, { id }: { readonly id: string }): Promise<void> => {
    const response = await fetch(`${service.url}/datasets/${id}/export`);
    if (response.status !== 200) throw new Error(`export answered ${response.status}`);
    await pipeline(Readable.fromWeb(response.body as never), createWriteStream(join(folder, 'export.zip')));
  };
  return {
    name: `export, ${label}`,
    baseline: 'psql \\copy (select …) to stdout | gzip -6',
    target: 0.6,
    runOurs: () =>
      bench.withService(async (service) => {
        const dataset = await store(service);
        const other = await upload(service, small);
        for (let time = 0; time < WARM_UPS; time += 1) await download(service, other);
        await bench.settle();
        return await sampleOf(service, () => download(service, dataset));
      }),
    runBaseline: async () => {
      const { id } = stored ?? (await bench.withService(store));
      await bench.settle();
      // In the order of the primary key: the fastest way in which PostgreSQL returns the items of each part in order.
      const select = `SELECT payload, answer, checker, assets, ${EMBEDDED} FROM items WHERE part_id IN (SELECT id FROM parts WHERE dataset_id = '${id}') ORDER BY part_id, ordinal`;
      return timed(() =>
        shell(
          `psql -q "$PGURL" -c "\\copy (${select}) TO stdout" | gzip -6 > ${join(folder, 'export.gz')}`,
          psql,
        ),
      );
    },
  };
}

/** A legacy archive to a package, against unpacking and packing the same bytes. */
export function convertCase({ folder }: Bench, { label, archive }: Items): Case {
  return {
    name: `convert, ${label}`,
    baseline: 'unzip -p | gzip -6',
    target: 1,
    runOurs: () =>
      timed(() => convertLegacyFile(archive, { output: join(folder, 'converted.pkg.zip'), force: true })),
    runBaseline: () => timed(() => shell(`unzip -p ${archive} | gzip -6 > ${join(folder, 'convert.gz')}`)),
  };
}
