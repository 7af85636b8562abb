import type { Item } from '@svc/jsonl-v23';
import { parseLines, splitLines } from '@svc/jsonl-v23/internal';
import type { PackageReader, PackageSection } from '@svc/pkg-format';

/** An item as it is in a package: it names the files that it refers to. */
export interface SampleItem {
  readonly section: string;
  /** From 0, in its section. */
  readonly orderIndex: number;
  readonly item: Item;
}

/**
 * The first items of a package, in section and item order. Reads only the lines of these items.
 *
 * @throws PackageError
 */
export async function sampleItems(
  pkg: PackageReader,
  count: number,
  signal: AbortSignal,
): Promise<SampleItem[]> {
  const samples: SampleItem[] = [];
  for (const section of pkg.sections) {
    if (samples.length >= count) break;
    samples.push(...(await firstItems(pkg, section, count - samples.length, signal)));
  }
  return samples;
}

async function firstItems(
  pkg: PackageReader,
  section: PackageSection,
  count: number,
  signal: AbortSignal,
): Promise<SampleItem[]> {
  const { file, name } = section;
  const { maxLineBytes, maxDepth } = pkg.limits;
  const items: Item[] = [];
  try {
    for await (const batch of splitLines(section.bytes({ signal }), { file, maxLineBytes, signal })) {
      for (const { item } of parseLines(batch, { file, maxDepth })) items.push(item);
      if (items.length >= count) break;
    }
  } catch (error) {
    throw await pkg.explain(error, file, { signal });
  }
  return items.slice(0, count).map((item, orderIndex) => ({ section: name, orderIndex, item }));
}
