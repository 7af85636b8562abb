import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { encodeItem, readItems } from '@svc/jsonl-v23';
import { itemLines } from './generate.ts';
import { type Case, timed } from './measure.ts';

/** Our code alone, against the least that Node's own functions could do instead. */
export function codeCases(size: number): { readonly read: Case; readonly encode: Case } {
  // Made before anything is measured.
  const chunks = [...itemLines(size)];
  const label = `${size.toLocaleString('en')} items`;
  const eachLine = (use: (line: string) => void): void => {
    for (const chunk of chunks) {
      for (const line of chunk.toString('utf8').split('\n')) if (line !== '') use(line);
    }
  };
  return {
    read: {
      name: `read lines, ${label}`,
      baseline: 'JSON.parse of each line',
      runOurs: () =>
        timed(async () => {
          for await (const _ of readItems(Readable.from(chunks)));
        }),
      runBaseline: () => timed(() => eachLine((line) => JSON.parse(line))),
    },
    encode: {
      name: `canonical text and hash, ${label}`,
      baseline: 'JSON.parse, JSON.stringify and SHA-256 of each line',
      runOurs: () =>
        timed(async () => {
          for await (const { item } of readItems(Readable.from(chunks))) encodeItem(item);
        }),
      runBaseline: () =>
        timed(() =>
          eachLine((line) =>
            createHash('sha256')
              .update(JSON.stringify(JSON.parse(line)))
              .digest(),
          ),
        ),
    },
  };
}
