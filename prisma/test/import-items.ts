import { randomUUID } from 'node:crypto';
import { collectSections, type DatasetSummary, type ImportOutcome } from '@svc/flows';
import { type Item, parseItem } from '@svc/jsonl-v23';
import { type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import { createRowEncoder } from '../src/copy/row-encoder.ts';
import type { DatasetStore } from '../src/datasets/dataset-store.ts';
import type { SaveOptions } from '../src/datasets/save-dataset.ts';

/** Sections by name, in order, with their items as JSON text. */
export type Sections = Readonly<Record<string, readonly string[]>>;

export interface ImportedDataset {
  readonly name?: string;
  readonly description?: string | null;
  readonly notes?: string | null;
  readonly source?: 'hub' | 'pkg_zip';
  readonly schema?: string;
}

/** Imports items as a flow does: encoded in chunks, folded into hashes, stored in one go. */
export function importItems(
  datasets: DatasetStore,
  sections: Sections,
  facts: ImportedDataset = {},
  options: SaveOptions = {},
): Promise<DatasetSummary> {
  const { rows, finish } = encodeSections(sections, facts);
  return datasets.saveDataset(rows(), finish, options);
}

/** The two halves of an import, for tests that disturb it. */
export function encodeSections(
  sections: Sections,
  facts: ImportedDataset = {},
): { rows: () => AsyncGenerator<Uint8Array>; finish: () => ImportOutcome } {
  const encoder = createRowEncoder();
  const collector = collectSections();
  return {
    async *rows() {
      for (const [orderIndex, [name, texts]] of Object.entries(sections).entries()) {
        const target = { id: randomUUID(), name, orderIndex };
        collector.begin(target);
        for (let first = 0; first < texts.length; first += 100) {
          const items = texts.slice(first, first + 100).map((text) => readItem(text));
          const encoded = encoder.encodeItems(items, target, first);
          collector.add(encoded);
          yield encoded.rows;
        }
      }
    },
    finish() {
      const { sections: outcome, versionHash } = collector.end();
      return {
        dataset: {
          id: randomUUID(),
          name: facts.name ?? 'a dataset',
          description: facts.description ?? null,
          notes: facts.notes ?? null,
          source: facts.source ?? 'pkg_zip',
          schema: facts.schema ?? '{"package":{"manifest":null,"meta":null},"source":"pkg_zip"}',
          versionHash,
          itemCount: collector.itemCount,
          assetCount: collector.assetCount,
        },
        sections: outcome,
      };
    },
  };
}

function readItem(text: string): Item {
  const value: JsonValue = parseJson(text);
  return parseItem(value);
}
