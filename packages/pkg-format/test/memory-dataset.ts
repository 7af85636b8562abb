import { createHash } from 'node:crypto';
import {
  createSectionHasher,
  encodeItem,
  type ItemParts,
  joinItem,
  parseItem,
  versionHash,
} from '@svc/jsonl-v23';
import { canonicalJson, type JsonValue } from '@svc/jsonl-v23/json';
import type { ExportDataset, ExportSection } from '../src/index.ts';
import { mayEmbedFiles } from '../src/write/embedded-files.ts';

export interface MemorySection {
  name: string;
  items: JsonValue[];
}

export interface MemoryOptions
  extends Partial<Pick<ExportDataset, 'name' | 'description' | 'notes' | 'schema'>> {
  /** Whether facts of section files are noted on storing, as an import does. */
  noteFacts?: boolean;
  batchSize?: number;
}

/** A dataset as a store would hand it out. */
export function memoryDataset(sections: MemorySection[], options: MemoryOptions = {}): ExportDataset {
  const exportSections = sections.map((section) => memorySection(section, options));
  return {
    name: options.name ?? 'a dataset',
    description: options.description ?? null,
    notes: options.notes ?? null,
    schema: options.schema ?? canonicalJson({ source: 'pkg_zip', package: { manifest: null, meta: null } }),
    versionHash: versionHash(exportSections.map(({ sectionHash }) => sectionHash)),
    sections: exportSections,
  };
}

function memorySection(
  { name, items }: MemorySection,
  { noteFacts = true, batchSize = 2 }: MemoryOptions,
): ExportSection {
  const encoded = items.map((item) => encodeItem(parseItem(item)));
  const hasher = createSectionHasher(name);
  for (const { itemHash } of encoded) hasher.add(itemHash);
  const parts: ItemParts[] = encoded.map(({ payload, answer, checker, assets }) => ({
    payload,
    answer,
    checker,
    assets,
  }));
  return {
    name,
    itemCount: items.length,
    sectionHash: hasher.digest(),
    exportFile: noteFacts && !parts.some(mayEmbedFiles) ? factsOf(parts) : null,
    async *items() {
      for (let at = 0; at < parts.length; at += batchSize) yield parts.slice(at, at + batchSize);
    },
    itemAt: async (orderIndex) => parts[orderIndex]!,
  };
}

function factsOf(parts: ItemParts[]): ExportSection['exportFile'] {
  const bytes = Buffer.from(parts.map((part) => `${joinItem(part)}\n`).join(''));
  return { bytes: bytes.byteLength, sha256: createHash('sha256').update(bytes).digest() };
}
