import { join } from 'node:path';
import type { Bench } from '../bench.ts';
import type { Case, Measured } from '../measure.ts';
import { convertCase, exportCase, type Items, uploadCase } from '../package-cases.ts';
import type { Shape } from './shape.ts';
import { type CountLimits, countOf, writeShape } from './shapes.ts';

/** Items in a package of the kind with which a service is warmed up, and their bytes at most. */
const SMALL_ITEMS = 10_000;
const SMALL_BYTES = 5_000_000;

/** The cases that every shape goes through, in the order in which they are measured. */
const CASES: Readonly<Record<string, (bench: Bench, items: Items) => Case>> = {
  upload: uploadCase,
  export: exportCase,
  convert: convertCase,
};

/** What was measured of one case and shape. */
export interface ShapeMeasured {
  readonly kind: string;
  readonly shape: Shape;
  readonly count: number;
  readonly measured: Measured;
}

/** Measures all wanted cases of one shape on the same package. */
export async function* measureShape(
  bench: Bench,
  shape: Shape,
  wanted: ReadonlySet<string>,
  { size, ...limits }: CountLimits & { readonly size: number },
  measure: (one: Case) => Promise<Measured>,
): AsyncGenerator<ShapeMeasured> {
  const kinds = Object.entries(CASES).filter(([kind]) => wanted.has(kind));
  if (kinds.length === 0) return;
  const count = countOf(shape, size, limits);
  const items: Items = {
    label: `${count.toLocaleString('en')} items, ${shape.name}`,
    archive: join(bench.folder, 'shape.pkg.zip'),
    small: join(bench.folder, 'small-shape.pkg.zip'),
  };
  await writeShape(items.archive, shape, count);
  await writeShape(
    items.small,
    shape,
    countOf(shape, SMALL_ITEMS, { maxItems: SMALL_ITEMS, maxBytes: SMALL_BYTES }),
  );
  for (const [kind, create] of kinds) {
    yield { kind, shape, count, measured: await measure(create(bench, items)) };
  }
}

/** For each case the shape that is furthest from its target. */
export function worstShapes(all: readonly ShapeMeasured[]): readonly Measured[] {
  const worst = new Map<string, ShapeMeasured>();
  for (const one of all) {
    const known = worst.get(one.kind);
    if (known === undefined || known.measured.ratio.median < one.measured.ratio.median)
      worst.set(one.kind, one);
  }
  return [...worst].map(([kind, { shape, measured }]) => ({
    ...measured,
    name: `**${kind}, worst of ${new Set(all.map((one) => one.shape)).size} shapes: ${shape.name}**`,
  }));
}
