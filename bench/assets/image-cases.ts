import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Bench, sampleOf, WARM_UPS } from '../bench.ts';
import { type Case, timed } from '../measure.ts';
import { upload } from '../service.ts';
import { shell } from '../shell.ts';
import { copyOfImages, writeImagePackage } from './generate-images.ts';

/** A package of images, and the same images as psql takes them. */
export interface Images {
  readonly count: number;
  readonly archive: string;
  /** The archive of a few. */
  readonly small: string;
  /** Rows of one bytea column, in PostgreSQL's binary COPY format. */
  readonly copy: string;
}

/** An archive has a section besides its images. */
const MANY_ENTRIES = { SVC_MAX_ARCHIVE_ENTRIES: '10000000' };
/** Ten kilobytes each: 100,000 of them are a gigabyte. */
const IMAGE_BYTES = 10_000;
const SMALL_COUNT = 500;

/** A client that takes little of the processors, as the programs of the baselines do. */
const curl = (request: string): string => `curl -sS --fail ${request}`;

const label = (count: number): string => `${count.toLocaleString('en')} images of 10 kB`;

/** Writes both forms of this many incompressible images. */
export async function makeImages({ folder }: Bench, count: number): Promise<Images> {
  const archive = join(folder, `images-${count}.pkg.zip`);
  const copy = join(folder, `images-${count}.copy`);
  const small = join(folder, 'few-images.pkg.zip');
  await writeImagePackage(archive, count, IMAGE_BYTES);
  await writeImagePackage(small, SMALL_COUNT, IMAGE_BYTES);
  await pipeline(Readable.from(copyOfImages(count, IMAGE_BYTES)), createWriteStream(copy));
  return { count, archive, small, copy };
}

/** From the request to its 201, against unpacking the archive and loading the same bytes into the barest table. */
export function imageUploadCase(bench: Bench, { count, archive, small, copy }: Images): Case {
  const { psql, folder } = bench;
  const unpacked = join(folder, 'unpacked');
  return {
    name: `upload, ${label(count)}`,
    baseline: 'unzip to files, then psql \\copy to one bytea column',
    // 0.9 of the speed
    target: 1.11,
    runOurs: () =>
      bench.withService(async (service) => {
        for (let time = 0; time < WARM_UPS; time += 1) await upload(service, small);
        await bench.empty();
        return await sampleOf(service, () =>
          shell(curl(`-o /dev/null -F file=@${archive} ${service.url}/datasets/upload`)),
        );
      }, MANY_ENTRIES),
    runBaseline: async () => {
      await shell(`psql -q "$PGURL" -c 'CREATE TABLE floor (bytes bytea)'`, psql);
      await bench.empty();
      const sample = await timed(() =>
        shell(
          `unzip -q ${archive} -d ${unpacked} && psql -q "$PGURL" -c "\\copy floor FROM '${copy}' WITH (FORMAT binary)"`,
          psql,
        ),
      );
      // a gigabyte each
      await shell(`psql -q "$PGURL" -c 'DROP TABLE floor'; rm -rf ${unpacked}`, psql);
      return sample;
    },
  };
}

/** A stored dataset to a file, against zip reading and writing the same files without compression. */
export function imageExportCase(bench: Bench, { count, archive, small }: Images): Case {
  const { folder } = bench;
  const files = join(folder, 'files');
  const target = join(folder, 'export-images.zip');
  let stored: { readonly id: string } | undefined;
  let hasFiles = false;
  return {
    name: `export, ${label(count)}`,
    baseline: 'zip -0 of the same files',
    target: 1,
    runOurs: async () => {
      if (stored === undefined) {
        await bench.empty();
        // In another process, whose memory is that of the case before.
        stored = await bench.withService((service) => upload(service, archive), MANY_ENTRIES);
      }
      const { id } = stored;
      return await bench.withService(async (service) => {
        const download = (datasetId: string): Promise<void> =>
          shell(curl(`-o ${target} ${service.url}/datasets/${datasetId}/export`));
        const other = await upload(service, small);
        for (let time = 0; time < WARM_UPS; time += 1) await download(other.id);
        await bench.settle();
        return await sampleOf(service, () => download(id));
      }, MANY_ENTRIES);
    },
    runBaseline: async () => {
      if (!hasFiles) await shell(`rm -rf ${files} && unzip -q ${archive} -d ${files}`);
      hasFiles = true;
      await shell(`rm -f ${target}`);
      await bench.settle();
      return timed(() => shell(`cd ${files} && zip -0 -q -r ${target} .`));
    },
  };
}
