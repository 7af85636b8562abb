import type { Shape } from './shape.ts';
import { between, dumps, pick, prose } from './text.ts';

const KEYS: readonly string[] = Array.from({ length: 24 }, (_, index) => `field_${(index * 7) % 24}`);

function nested(next: () => number, depth: number): unknown {
  if (depth === 0) return { leaf: prose(next, 10), count: between(next, 0, 100) };
  return {
    level: depth,
    is_open: next() < 0.5,
    children: [nested(next, depth - 1), null],
    parent: { depth },
  };
}

/** Metadata: 24 keys, and objects in objects over ten levels. */
export const DEEP_META: Shape = {
  name: 'deep-meta',
  lineBytes: 1430,
  line: (next, index) => {
    const meta: Record<string, unknown> = { tree: nested(next, 10) };
    for (const key of KEYS) {
      // not every item has every key
      if (next() < 0.9) meta[key] = pick<unknown>(next, [prose(next, 12), between(next, 0, 1e6), true, null]);
    }
    return dumps({
      id: index,
      inputs: { prompt: `${prose(next, 80)}?` },
      answer: prose(next, 10),
      checker: { type: 'exact_match' },
      meta,
    });
  },
};
