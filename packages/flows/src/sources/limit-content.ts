import { FREE_EXPANSION_BYTES } from '@svc/jsonl-v23/internal';
import type { ByteSource as ArchiveBytes, PackageLimits } from '@svc/pkg-format';
import type { ByteSource as TableBytes } from '@svc/tabular';

/** The bytes of a file, out of which no more may come than the limits of archives allow. */
export function limitContent(
  source: ArchiveBytes,
  limits: Partial<Pick<PackageLimits, 'maxTotalBytes' | 'maxExpansionRatio'>>,
): ArchiveBytes & Pick<TableBytes, 'maxContentBytes'> {
  const { maxTotalBytes = Number.POSITIVE_INFINITY, maxExpansionRatio = Number.POSITIVE_INFINITY } = limits;
  const { byteLength } = source;
  const view = source.view?.bind(source);
  const expandedBytes = Math.max(FREE_EXPANSION_BYTES, byteLength * maxExpansionRatio);
  return {
    byteLength,
    maxContentBytes: Math.min(maxTotalBytes, expandedBytes),
    read: (start, end) => source.read(start, end),
    ...(view === undefined ? {} : { view }),
  };
}
