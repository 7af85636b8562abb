import type { LocatedLine } from '../../packages/evaluation/test/scoring-corpus.ts';
import { fitsLetters, letterTargets, type RuleSet, textOf } from './rule-set.ts';

const LANGUAGES = new Set(['en', 'ar', 'de', 'es', 'fr', 'hi', 'it', 'ja', 'ko', 'pt', 'zh']);

/** What is cut out of a reply, in this order. */
const MARKUP = [
  ...['**', '$\\boxed{', '}$', '\\$', '$\\text{', '$', '\\mathrm{'],
  ...['\\{', '\\text', '\\(', '\\mathbf{', '{', '\\boxed'],
];

/** The words for "answer" before a colon, in the order in which they are looked for. */
const HEADS = [
  ...['Answer', 'उत्तर', 'Antwort', '답변', '정답', '답'].map((word) => `${word}\\s*:`),
  ...['答案\\s*：', '答案\\s*:', '答\\s*：', '答\\s*:', '答复\\s*：', '答曰\\s*：'],
  ...[
    'الإجابة',
    'الجواب',
    'إجابة',
    'الإجابة النهائية',
    'الإجابة الصحيحة',
    'الإجابة الصحيحة هي',
    'الإجابة هي',
  ].map((word) => `${word}:`),
  ...['الجواب النهائي:', 'Respuesta\\s*:', 'Risposta\\s*:'],
  ...['答え\\s*:', '答え\\s*：', '回答\\s*:', '回答\\s*：', '解答\\s*:', 'Réponse\\s*:', 'Resposta\\s*:'],
];
const PATTERNS = HEADS.map((head) => new RegExp(`${head}[ \\t]*([A-D]|[أ-د]|[Ａ-Ｄ])`, 'i'));

const FORM = new RegExp(HEADS.join('|'), 'i');

const LETTERS: Readonly<Record<string, string>> = { أ: 'A', ب: 'B', ج: 'C', د: 'D' };

const replyOf = (line: LocatedLine): string =>
  MARKUP.reduce((text, mark) => text.replaceAll(mark, ''), textOf(line));

/**
 * The multilingual patterns of simple-evals (its MMLU and MMMLU): the first of the words above with a colon and a letter
 * from A to D decides. Heads of languages that the corpus does not have are left out.
 */
export const simpleEvals: RuleSet = {
  name: 'simple-evals, multilingual patterns',
  form: '`Answer:` in the language',
  fits: (line) =>
    LANGUAGES.has(line.language ?? 'en') && !Array.isArray(line.answer) && fitsLetters(line, { most: 4 }),
  hasForm: (line) => FORM.test(replyOf(line)),
  passes: (line) => {
    const reply = replyOf(line);
    const found = PATTERNS.map((pattern) => pattern.exec(reply)?.[1]).find((letter) => letter !== undefined);
    if (found === undefined) return false;
    const letter = LETTERS[found] ?? (/^[Ａ-Ｄ]$/.test(found) ? found.normalize('NFKC') : found);
    return letterTargets(line)?.[0] === letter;
  },
};
