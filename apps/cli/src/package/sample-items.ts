import type { Item } from '@svc/jsonl-v23';
import { parseLines, splitLines } from '@svc/jsonl-v23/internal';
import type { PackageReader, PackageSection } from '@svc/pkg-format';

/** An item as it stands in a package: files that it refers to are named, not put in. */
export interface SampleItem {
  readonly section: string;
  /** from 0, in its section */
  readonly orderIndex: number;
  readonly item: Item;
}

/**
 * The first items of a package, in section and item order. Reads no more than the lines that hold them.
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
    for await (const batch of splitLines(section.bytes(signal), { file, maxLineBytes, signal })) {
      for (const { item } of parseLines(batch, { file, maxDepth })) items.push(item);
      if (items.length >= count) break;
    }
  } catch (error) {
    throw await pkg.explain(error, file, signal);
  }
  return items.slice(0, count).map((item, orderIndex) => ({ section: name, orderIndex, item }));
}
