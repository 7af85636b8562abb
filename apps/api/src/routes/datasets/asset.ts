import type { Route } from '@svc/runtime';
import { assetNotFound, type Store } from '@svc/store';
import { rangedResponse, rangedRoute } from '../../http/byte-range.ts';
import { mediaHeaders, SAFE } from '../../http/media-headers.ts';
import { VERSION } from './resolve-datasets.ts';
import { DATASET_READ } from './routes.ts';

export interface AssetDeps {
  readonly store: Pick<Store, 'assets' | 'datasets'>;
}

/** The bytes under a hash never change. */
const FOREVER = 'private, max-age=31536000, immutable';

/** `GET /datasets/{id}/assets/{sha256}`: the bytes of a file that an item of the dataset embeds. */
export function assetRoute({ store: { assets, datasets } }: AssetDeps): Route {
  return {
    ...DATASET_READ,
    ...rangedRoute('the bytes'),
    path: '/datasets/{id}/assets/{sha256}',
    operationId: 'getAsset',
    summary:
      'The bytes of an asset. Media types that browsers can show safely are sent inline, others as a download',
    query: VERSION,
    errors: ['dataset_not_found', 'not_found', 'range_not_satisfiable', 'asset_missing', 'unavailable'],
    handle: async (request) => {
      const { params, query, signal } = request;
      const version = query['version'] as number | undefined;
      const [id, sha256] = [params['id'] ?? '', params['sha256'] ?? ''];
      const asset = await assets.find(id, sha256, { version, signal });
      if (asset === null) {
        await datasets.get(id, { signal });
        throw assetNotFound();
      }
      return rangedResponse(request, {
        byteLength: asset.byteLength,
        etag: `"${sha256}"`,
        headers: { 'Cache-Control': FOREVER, ...SAFE },
        bodyHeaders: mediaHeaders(asset.mimeType, sha256),
        read: (range) => assets.read(sha256, { range, signal }),
      });
    },
  };
}
