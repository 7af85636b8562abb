import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Bench } from '../bench.ts';
import type { Case, Sample } from '../measure.ts';

const PROGRAM = fileURLToPath(new URL('write-items.ts', import.meta.url));

/** Items of an async generator to a package, against the same items through gzip; each in a separate process. */
export function packCase({ folder }: Pick<Bench, 'folder'>, size: number): Case {
  const run = async (side: 'package' | 'gzip'): Promise<Sample> => {
    const path = join(folder, `written.${side}`);
    await rm(path, { force: true });
    const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, side, String(size), path]);
    return JSON.parse(stdout);
  };
  return {
    name: `write a package, ${size.toLocaleString('en')} items of an async generator`,
    baseline: 'JSON.stringify of each item, through gzip of node:zlib',
    target: 1.3,
    runOurs: () => run('package'),
    runBaseline: () => run('gzip'),
  };
}
