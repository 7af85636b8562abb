import { expect, it } from 'vitest';
import { importRequestToJson, toImportRequest } from './import-request.ts';

const body = {
  name: 'n',
  description: null,
  config: { path: 'o/d', split: 'train[:3]', subset: null, token: 'hf_planted' },
  mapping: { prompt_column: 'q', answer_column: null, meta_columns: ['a', 'b'] },
};

it('reads a request body, where null stands for absent', () => {
  expect(toImportRequest(body)).toEqual({
    name: 'n',
    description: null,
    config: { path: 'o/d', split: 'train[:3]', subset: undefined, revision: undefined },
    token: 'hf_planted',
    mapping: { promptColumn: 'q', metaColumns: ['a', 'b'] },
    mappingAsSent: body.mapping,
  });
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
  const request = toImportRequest(body);
  const kept = importRequestToJson(request);
  expect(JSON.stringify(kept)).not.toContain('planted');
  expect(toImportRequest(kept)).toEqual({ ...request, token: undefined });
});
