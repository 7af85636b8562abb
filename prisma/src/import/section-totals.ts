import { createSha256 } from '@svc/jsonl-v23/internal';
import { startSectionHash } from '../versions/hash-section.ts';
import type { ItemRange } from '../versions/ranges.ts';
import type { Sha256State } from '../versions/sha256-state.ts';
import type { EncodedRows } from './encode/encoded-rows.ts';
import { SectionParts } from './section-parts.ts';

/** A section whose items have all been added. */
export interface SectionRecord {
  /** Uuid. */
  readonly id: string;
  readonly name: string;
  readonly orderIndex: number;
  readonly itemCount: number;
  /** Where its items are: whole parts. */
  readonly parts: readonly ItemRange[];
  readonly sectionHash: Uint8Array;
  /** From which the hash continues when items are appended. */
  readonly hashState: Uint8Array;
  /** Size and SHA-256 of the section's file in an export; null when its items embed files. */
  readonly exportFile: { readonly bytes: number; readonly sha256: Uint8Array } | null;
}

/** Counts and hashes the items of one section as they pass (hashes as in item-v23, section 4). */
export class SectionTotals {
  readonly id: string;
  readonly name: string;
  readonly orderIndex: number;
  readonly parts: SectionParts = new SectionParts();
  #itemCount = 0;
  readonly #hash: Sha256State;
  /** Null once an item embeds a file. */
  #file: { readonly hash: ReturnType<typeof createSha256>; bytes: number } | null = {
    hash: createSha256(),
    bytes: 0,
  };
  #record: SectionRecord | undefined;

  constructor(id: string, name: string, orderIndex: number) {
    this.id = id;
    this.name = name;
    this.orderIndex = orderIndex;
    this.#hash = startSectionHash(name);
  }

  add(encoded: EncodedRows): void {
    this.#hash.update(encoded.itemHashes);
    this.#itemCount += encoded.itemCount;
    if (encoded.lines === null) this.#file = null;
    else if (this.#file !== null) {
      this.#file.hash.update(encoded.lines);
      this.#file.bytes += encoded.lines.byteLength;
    }
  }

  /** Ends the section; nothing can be added any more. */
  end(): SectionRecord {
    const { id, name, orderIndex } = this;
    const file = this.#file;
    this.#record ??= {
      id,
      name,
      orderIndex,
      itemCount: this.#itemCount,
      parts: this.parts.ranges,
      sectionHash: this.#hash.digest(),
      hashState: this.#hash.save(),
      exportFile: file === null ? null : { bytes: file.bytes, sha256: file.hash.digest() },
    };
    return this.#record;
  }
}
