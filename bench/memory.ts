import { join } from 'node:path';
import type { Bench } from './bench.ts';
import { writePackage } from './generate.ts';
import { upload } from './service.ts';

/** JSON Lines of this size in bytes, in items of some 557 bytes. */
const SIZES: readonly { readonly label: string; readonly items: number }[] = [
  { label: '100 MB', items: 180_000 },
  { label: '1 GB', items: 1_800_000 },
  { label: '4 GB', items: 7_200_000 },
];

export interface Peak {
  readonly label: string;
  readonly seconds: number;
  readonly peakBytes: number;
}

/** The peak memory of a separate service process during an upload, for uploads of several sizes. */
export async function* peakMemory(bench: Bench): AsyncGenerator<Peak> {
  for (const { label, items } of SIZES) {
    const archive = join(bench.folder, 'memory.pkg.zip');
    await writePackage(archive, items);
    await bench.empty();
    yield await bench.withService(async (service) => {
      const startedAt = performance.now();
      await upload(service, archive);
      return { label, seconds: (performance.now() - startedAt) / 1000, peakBytes: service.peakBytes() };
    });
  }
  await bench.empty();
}
