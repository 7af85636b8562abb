import { describe, expect, it } from 'vitest';
import { parseS3Location } from './s3-location.ts';

describe('the location of a bucket', () => {
  it('has a bucket, a prefix, and an endpoint', () => {
    expect(parseS3Location('s3://bucket')).toEqual({
      bucket: 'bucket',
      prefix: '',
      endpoint: null,
      region: null,
    });
    expect(parseS3Location('s3://my.bucket/a/b?endpoint=http://127.0.0.1:9000&region=eu-1')).toEqual({
      bucket: 'my.bucket',
      prefix: 'a/b/',
      endpoint: 'http://127.0.0.1:9000',
      region: 'eu-1',
    });
    for (const wrong of [
      'https://bucket',
      's3://b',
      's3://user:pass@bucket',
      's3://bucket/a b',
      's3://bucket?key=1',
      's3://bucket?endpoint=ftp://x',
      's3://bucket:1/',
      's3://bucket?region=A B',
    ]) {
      expect(() => parseS3Location(wrong)).toThrow(/^(must|may)/);
    }
  });
});
