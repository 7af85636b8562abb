import { readFile, writeFile } from 'node:fs/promises';
import type { Measured } from './measure.ts';

const PATH = new URL('floors.json', import.meta.url);
/** A floor is lost if all rounds are slower by more than this. */
const TOLERANCE = 1.15;

/** The ratio of a case to its baseline as it was reached, and how far its rounds lay apart on that machine, by the ratio. */
interface Floor {
  readonly ratio: number;
  readonly noise: number;
}

/** Writes what was measured as the floors of these cases; those of others stay. */
export async function writeFloors(measured: readonly Measured[]): Promise<void> {
  const floors = new Map(Object.entries(await readFloors()));
  for (const { name, ratio } of measured) {
    const noise = (ratio.max - ratio.min) / ratio.median;
    floors.set(name, { ratio: rounded(ratio.median), noise: rounded(noise) });
  }
  const sorted = [...floors].sort(([one], [other]) => (one < other ? -1 : 1));
  await writeFile(PATH, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
}

/** The cases whose floor is lost: even their best round is slower by more than 15 %. */
export async function lostFloors(measured: readonly Measured[]): Promise<readonly string[]> {
  const floors = new Map(Object.entries(await readFloors()));
  return measured.flatMap(({ name, ratio }) => {
    const floor = floors.get(name);
    if (floor === undefined || ratio.min <= TOLERANCE * floor.ratio) return [];
    return [`${name}: ${ratio.min.toFixed(2)} of its baseline at best, floor ${floor.ratio}`];
  });
}

async function readFloors(): Promise<Readonly<Record<string, Floor>>> {
  return JSON.parse(await readFile(PATH, 'utf8'));
}

const rounded = (value: number): number => Number(value.toFixed(2));
