import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeImages } from '../assets/image-cases.ts';
import type { Bench } from '../bench.ts';
import { type Service, uploadByCurl } from '../service.ts';
import { makeTables, TABLE_FORM } from '../tables/table-cases.ts';
import type { Shape } from './shape.ts';
import { type CountLimits, countOf, writeShape } from './shapes.ts';

/** What a process may hold, at any time. */
const MAX_BYTES = 400e6;
/** How long a process is left alone before its memory is read a last time. */
const REST_MS = 10_000;

export interface AfterShapesOptions extends CountLimits {
  readonly shapes: readonly Shape[];
  /** Items of each shape, at most. */
  readonly size: number;
  readonly images: number;
  readonly tableBytes: number;
}

/** Writes a file of one kind, and returns how it is sent. */
interface Kind {
  readonly name: string;
  write(): Promise<{ readonly path: string; readonly form?: Parameters<typeof uploadByCurl>[2] }>;
}

/**
 * Rows of a table: the memory that one process holds after it has taken uploads of all kinds, one after the other, and
 * another process after the same in the opposite order. Files are written before each upload: all of them take gigabytes.
 */
export async function* memoryAfterShapes(bench: Bench, options: AfterShapesOptions): AsyncGenerator<string> {
  const kinds = kindsOf(bench, options);
  const held = new Map(kinds.map(({ name }) => [name, [] as string[]]));
  const peaks: string[] = [];
  const rests: string[] = [];
  for (const order of [kinds, kinds.toReversed()]) {
    await bench.empty();
    await bench.withService(
      async (service) => {
        for (const { name, write } of order) {
          const { path, form } = await write();
          await uploadByCurl(service, path, form);
          held.get(name)?.push(shown(service.rssBytes()));
          await rm(path);
          await bench.empty();
        }
        await sleep(REST_MS);
        rests.push(shown(service.rssBytes()));
        const peakBytes = service.peakBytes();
        peaks.push(`${shown(peakBytes)}${peakBytes > MAX_BYTES ? ', missed' : ''}`);
      },
      { SVC_MAX_ARCHIVE_ENTRIES: '10000000' },
    );
  }
  yield '| memory of a process after an upload of | in this order, downwards | in another process, upwards |';
  yield '|---|---|---|';
  for (const [name, [down, up]] of held) yield `| ${name} | ${down} | ${up} |`;
  yield `| all, ${REST_MS / 1000} s later | ${rests.join(' | ')} |`;
  yield `| peak, at most ${shown(MAX_BYTES)} | ${peaks.join(' | ')} |`;
}

function kindsOf(bench: Bench, { shapes, size, images, tableBytes, ...limits }: AfterShapesOptions): Kind[] {
  const ofShapes = shapes.map((shape): Kind => {
    const count = countOf(shape, size, limits);
    return {
      name: `${shape.name}, ${count.toLocaleString('en')} items`,
      async write() {
        const path = join(bench.folder, 'shape.pkg.zip');
        await writeShape(path, shape, count);
        return { path };
      },
    };
  });
  const ofTables = (['csv', 'parquet'] as const).map(
    (format): Kind => ({
      name: `${format} of ${shown(tableBytes)}`,
      async write() {
        const [table] = await makeTables(bench, tableBytes, [format]);
        return { path: table?.path ?? '', form: TABLE_FORM };
      },
    }),
  );
  const ofImages: Kind = {
    name: `${images.toLocaleString('en')} images of 10 kB`,
    async write() {
      const { archive, copy } = await makeImages(bench, images);
      await rm(copy);
      return { path: archive };
    },
  };
  return [...ofShapes, ofImages, ...ofTables];
}

const shown = (bytes: ReturnType<Service['rssBytes']>): string => `${Math.round(bytes / 1e6)} MB`;
