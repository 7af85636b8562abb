import { describe, expect, it } from 'vitest';
import { rejectionOf } from '../../test/arbitrary-json.ts';
import type { FileReference } from './asset.ts';
import { parseItem } from './parse-item.ts';
import { rehydrateItem } from './rehydrate-item.ts';

const files: Record<string, string> = { 'assets/a.png': 'A', 'assets/b': 'BB', 'checkers/c.py': 'print(1)' };

const readFile = async (reference: FileReference): Promise<Uint8Array> => {
  const text = files[reference.path];
  if (text === undefined) throw new Error(`missing ${reference.path} at ${reference.pointer}`);
  return new TextEncoder().encode(text);
};

describe('rehydrateItem', () => {
  it('embeds files, keeps paths, and finds missing types by the extension', async () => {
    const item = parseItem({
      id: 1,
      assets: {
        a: 'assets/a.png',
        b: { path: 'assets/b', note: 1 },
        c: { path: 'assets/a.png', mime_type: 'image/x' },
        d: 'https://example.org/d.png',
      },
      checker: { type: 'script', path: 'checkers/c.py' },
    });
    const before = JSON.stringify(item);
    expect(await rehydrateItem(item, readFile)).toEqual({
      id: 1,
      assets: {
        a: { path: 'assets/a.png', mime_type: 'image/png', encoding: 'base64', data: 'QQ==' },
        b: {
          path: 'assets/b',
          note: 1,
          mime_type: 'application/octet-stream',
          encoding: 'base64',
          data: 'QkI=',
        },
        c: { path: 'assets/a.png', mime_type: 'image/x', encoding: 'base64', data: 'QQ==' },
        d: { url: 'https://example.org/d.png' },
      },
      checker: { type: 'script', path: 'checkers/c.py', encoding: 'base64', data: 'cHJpbnQoMSk=' },
    });
    expect(JSON.stringify(item)).toBe(before);
  });

  it('embeds files of a list, and under any name', async () => {
    const list = await rehydrateItem(parseItem({ assets: [{ data: '' }, 'assets/b'] }), readFile);
    expect(list['assets']).toMatchObject([{ data: '' }, { data: 'QkI=' }]);
    const named = parseItem(JSON.parse('{"assets":{"__proto__":"assets/b","x":"https://x"}}'));
    const { assets } = await rehydrateItem(named, readFile);
    expect(Object.keys(assets as object)).toEqual(['__proto__', 'x']);
    expect(JSON.stringify(assets)).toContain('"data":"QkI="');
  });

  it('returns an item without references unchanged', async () => {
    const item = parseItem({ assets: [{ data: '' }], checker: { type: 'x' } });
    expect(await rehydrateItem(item, readFile)).toBe(item);
  });

  it('rethrows errors of the reader', async () => {
    const error = await rejectionOf(rehydrateItem(parseItem({ assets: ['assets/none'] }), readFile));
    expect(error).toMatchObject({ message: 'missing assets/none at /assets/0' });
  });
});
