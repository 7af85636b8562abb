import { FREE_EXPANSION_BYTES, type ImportLimits } from '@svc/jsonl-v23/internal';
import type { RandomAccess } from '../files/table-source.ts';

/**
 * A file whose content may have at most the bytes that the limits of an import allow.
 *
 * @param sentBytes of the archive that the file comes from: the ratios of the two do not multiply
 */
export function limitContent<S extends RandomAccess>(
  source: S,
  {
    maxTotalBytes = Number.POSITIVE_INFINITY,
    maxExpansionRatio = Number.POSITIVE_INFINITY,
  }: Partial<Pick<ImportLimits, 'maxTotalBytes' | 'maxExpansionRatio'>>,
  sentBytes: number = source.byteLength,
): S & { readonly maxContentBytes: number } {
  const packedBytes = Math.min(source.byteLength, sentBytes);
  const expandedBytes = Math.max(FREE_EXPANSION_BYTES, packedBytes * maxExpansionRatio);
  return { ...source, maxContentBytes: Math.min(maxTotalBytes, expandedBytes) };
}
