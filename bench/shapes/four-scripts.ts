import type { Shape } from './shape.ts';
import { between, dumps, pick, prose } from './text.ts';

const SCRIPTS: readonly string[] = [
  'Сколько яблок останется, если каждый из трёх друзей отдаст по два и купит ещё полдюжины',
  '三个人分苹果每人送出两个中午之前又买了半打请问还剩下多少个苹果',
  'كم عدد التفاحات التي تبقى عندما يتقاسمها ثلاثة أشخاص ويعطي كل منهم اثنتين',
  'तीन लोग सेब बाँटते हैं और हर एक दो दे देता है तो कितने सेब बचते हैं',
];
const EMOJI: readonly string[] = ['🍎', '😀', '👩‍🔬', '🇫🇷', '✅'];

const sentence = (next: () => number, length: number): string => {
  const script = pick(next, SCRIPTS);
  const start = between(next, 0, 20);
  return `${script.slice(start, start + length)} ${pick(next, EMOJI)}`;
};

/** Cyrillic, Chinese, Arabic, Devanagari and emoji; every third item with all of them as escapes. */
export const FOUR_SCRIPTS: Shape = {
  name: 'four-scripts',
  lineBytes: 1070,
  line: (next, index) =>
    dumps(
      {
        id: `q-${index}`,
        inputs: { prompt: Array.from({ length: 5 }, () => sentence(next, 50)).join('. '), title: 'Café' },
        answer: sentence(next, 30),
        meta: { язык: 'русский', note: prose(next, 30) },
        tags: ['многоязычный', '数学'],
      },
      index % 3 === 0,
    ),
};
