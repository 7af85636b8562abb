import { expect, it } from 'vitest';
import type { ImportTarget } from '../store/index.ts';
import {
  decodeImportRequest,
  decodeUploadRequest,
  encodeRequest,
  toImportRequest,
  type UploadJobRequest,
} from './requests.ts';

const target: ImportTarget = {
  ...{ kind: 'dataset', handle: 'h', ifExists: 'reuse', message: 'm', author: null },
};

const change: ImportTarget = {
  kind: 'version',
  change: {
    ...{ datasetId: 'd', mode: 'append', section: 's', ifMatch: 'ab' },
    ...{ source: undefined, message: null, author: 'key 1' },
  },
};

const body = {
  name: 'n',
  description: null,
  config: { path: 'o/d', split: 'train[:3]', subset: null, token: 'hf_planted' },
  mapping: { prompt_column: 'q', answer_column: null, meta_columns: ['a', 'b'] },
};

it('reads a request body, where null means absent', () => {
  expect(toImportRequest(body)).toEqual({
    name: 'n',
    description: null,
    config: { path: 'o/d', split: 'train[:3]', subset: undefined, revision: undefined },
    token: 'hf_planted',
    mapping: { promptColumn: 'q', metaColumns: ['a', 'b'] },
    mappingAsSent: body.mapping,
  });
});

it('takes an address without the tokens that people paste with it', () => {
  const path = 'https://me:hf_planted@hub.example/datasets/o/d?token=hf_planted#hf_planted';
  const request = toImportRequest({ ...body, config: { path } });
  expect(request.config.path).toBe('https://hub.example/datasets/o/d');
});

it('reads meta columns under other keys', () => {
  const mapping = JSON.parse('{"prompt_column":"q","meta_columns":{"difficulty":"level","__proto__":"p"}}');
  const { metaColumns } = toImportRequest({ ...body, mapping }).mapping;
  expect(Object.entries(metaColumns ?? {})).toEqual([
    ['difficulty', 'level'],
    ['__proto__', 'p'],
  ]);
});

it('writes a request so that it can be read again, without its token', () => {
  const request = { ...toImportRequest(body), target };
  const kept = encodeRequest(request);
  expect(kept).not.toContain('planted');
  expect(decodeImportRequest(kept)).toEqual({ ...request, token: undefined });
});

it.each<UploadJobRequest>([
  {
    ...{ name: 'n', description: 'd', mapping: null, mappingAsSent: null, archiveBytes: 7, chunkBytes: 3 },
    ...{ target, origins: ['https://a.example'] },
    content: { kind: 'package', fileName: 'a.pkg.zip', sha256: 'ab' },
  },
  {
    ...{ name: undefined, description: undefined, archiveBytes: 2 ** 40, chunkBytes: 1 },
    ...{ mapping: { promptColumn: 'q' }, mappingAsSent: { prompt_column: 'q' } },
    ...{ target: change, isPlainBody: true, origins: [] },
    content: {
      kind: 'files',
      sentBytes: 4,
      skipped: { first: [{ name: '_SUCCESS', reason: 'it is empty' }], total: 101 },
      files: [
        {
          ...{ name: 'a.csv.gz', bytes: 5, sha256: 'ab', section: 'default' },
          detected: {
            format: 'csv',
            compression: 'gzip',
            options: { delimiter: ';', quote: null, header: false },
            warnings: ['One sentence.'],
          },
        },
      ],
    },
  },
])('writes an upload so that it can be read again', (request) => {
  expect(decodeUploadRequest(encodeRequest(request))).toEqual(request);
});
