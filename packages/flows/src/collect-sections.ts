import { createHash, type Hash } from 'node:crypto';
import { createSectionHasher, type SectionHasher, versionHash } from '@svc/jsonl-v23';
import type { EncodedRows, OutcomeSection, SectionTarget } from './ports.ts';

/** What an import folds while its rows pass: hashes, counts, and the facts of the files an export will write. */
export interface SectionCollector {
  begin(target: SectionTarget): void;
  add(encoded: EncodedRows): void;
  /** items of the current section so far */
  readonly nextOrderIndex: number;
  readonly itemCount: number;
  readonly assetCount: number;
  /** Ends the last section and gives everything back; call it once. */
  end(): { readonly sections: readonly OutcomeSection[]; readonly versionHash: string };
}

/** Makes a collector for one dataset (hashes as in item-v23, section 4). */
export function collectSections(): SectionCollector {
  const sections: OutcomeSection[] = [];
  let current: OpenSection | undefined;
  let itemCount = 0;
  let assetCount = 0;
  const close = (): void => {
    if (current === undefined) return;
    const { target, hasher, file } = current;
    sections.push({
      ...target,
      itemCount: current.itemCount,
      sectionHash: hasher.digest(),
      exportFile: file === null ? null : { bytes: file.bytes, sha256: file.hash.digest() },
    });
  };
  return {
    begin: (target) => {
      close();
      current = {
        target,
        hasher: createSectionHasher(target.name),
        itemCount: 0,
        file: { hash: createHash('sha256'), bytes: 0 },
      };
    },
    add: (encoded) => {
      if (current === undefined) throw new Error('no section has begun');
      current.hasher.add(encoded.itemHashes);
      current.itemCount += encoded.itemCount;
      itemCount += encoded.itemCount;
      assetCount += encoded.assetCount;
      if (encoded.lines === null) current.file = null;
      else if (current.file !== null) {
        current.file.hash.update(encoded.lines);
        current.file.bytes += encoded.lines.byteLength;
      }
    },
    get nextOrderIndex() {
      return current?.itemCount ?? 0;
    },
    get itemCount() {
      return itemCount;
    },
    get assetCount() {
      return assetCount;
    },
    end: () => {
      close();
      current = undefined;
      return { sections, versionHash: versionHash(sections.map(({ sectionHash }) => sectionHash)) };
    },
  };
}

interface OpenSection {
  readonly target: SectionTarget;
  readonly hasher: SectionHasher;
  itemCount: number;
  /** null once an item embeds a file */
  file: { readonly hash: Hash; bytes: number } | null;
}
