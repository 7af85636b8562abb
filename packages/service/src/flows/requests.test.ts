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

const UPLOADS: readonly UploadJobRequest[] = [
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
];

it.each(UPLOADS)('writes an upload so that it can be read again', (request) => {
  expect(decodeUploadRequest(encodeRequest(request))).toEqual(request);
});

const DATASET = '"target":{"author":null,"handle":"h","if_exists":"reuse","kind":"dataset","message":"m"}';
const VERSION =
  '"target":{"author":"key 1","dataset_id":"d","if_match":"ab","kind":"version","message":null,"mode":"append","section":"s","source":null}';

/** What the first release wrote: its jobs wait during an update, and its workers take those of this version. */
it('keeps requests in the form of earlier versions', () => {
  const request = { ...toImportRequest(body), token: undefined, target };
  const kept = `{"config":{"path":"o/d","revision":null,"split":"train[:3]","subset":null},"description":null,"mapping":{"answer_column":null,"meta_columns":["a","b"],"prompt_column":"q"},"name":"n",${DATASET}}`;
  expect(encodeRequest(request)).toBe(kept);
  expect(decodeImportRequest(kept)).toEqual(request);
  const [ofPackage, ofFiles] = UPLOADS.map(encodeRequest);
  expect(ofPackage).toBe(
    `{"archive_bytes":7,"chunk_bytes":3,"description":"d","file_name":"a.pkg.zip","kind":"package","mapping":null,"name":"n","origins":["https://a.example"],"sha256":"ab",${DATASET}}`,
  );
  expect(ofFiles).toBe(
    `{"archive_bytes":1099511627776,"chunk_bytes":1,"description":null,"files":[{"bytes":5,"compression":"gzip","format":"csv","name":"a.csv.gz","options":{"delimiter":";","header":false,"quote":null},"section":"default","sha256":"ab","warnings":["One sentence."]}],"is_plain_body":true,"kind":"files","mapping":{"prompt_column":"q"},"name":null,"origins":[],"sent_bytes":4,"skipped_files":[{"name":"_SUCCESS","reason":"it is empty"}],"skipped_files_total":101,${VERSION}}`,
  );
});
