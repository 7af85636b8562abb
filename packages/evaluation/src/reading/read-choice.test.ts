import { describe, expect, it } from 'vitest';
import { labelledChoices } from '../item/labelled-choices.ts';
import { readChoice } from './read-choice.ts';

const COLOURS = ['red', 'green', 'blue', 'none'];
const TEN = ['red', 'green', 'blue', 'cyan', 'teal', 'pink', 'gold', 'grey', 'lime', 'plum'];

function read(output: string, choices: readonly unknown[] = COLOURS, isSeveral = false): string {
  const listed = labelledChoices({ inputs: { choices: choices as never } });
  const { picked } = readChoice(output, listed, isSeveral);
  return [...picked].sort((a, b) => a - b).map((one) => listed.choices[one]?.label).join(',');
}

/** Outputs by the choice that a careful person reads in them; `-` for none. */
const CASES: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  'the whole text': [
    ['C', 'C'], ['c', 'C'], ['(C)', 'C'], ['**C.**', 'C'], ['$\\boxed{C}$', 'C'], ['blue', 'C'], ['Blue.', 'C'], ['"C"', 'C'],
    ['C. blue', 'C'], ['(C) blue', 'C'], ['C: blue.', 'C'], ['Ｃ', 'C'], ['「C」', 'C'], ['[[C]]', 'C'], ['<b>C</b>', 'C'], ['', '-'],
  ],
  'a conclusion': [
    ['The answer is C.', 'C'], ['Answer: C', 'C'], ['answer = (c)', 'C'], ['The correct option is C', 'C'], ['Final answer: **C**', 'C'],
    ['The answer would be C. A fails.', 'C'], ['The answer must therefore be (C).', 'C'], ['The answer should be C; A is too warm.', 'C'],
    ['So the best choice is option C.', 'C'], ['Therefore (C).', 'C'], ['Hence, C.', 'C'], ['C is correct. A is not.', 'C'],
    ['So C is the answer, not A.', 'C'], ['I choose C over A.', 'C'], ["I'd go with C here, not B.", 'C'], ['Final: C\nNot A.', 'C'],
    ['A and B are warm. So $\\boxed{\\textbf{C}}$', 'C'], ['\\boxed{\\text{(C)}} and not A', 'C'], ['A or B? Then \\boxed{C}.', 'C'],
    ['The answer is $\\text{C}$. A and B fail.', 'C'], ['The answer is `C`. A fails.', 'C'], ['The answer is <C>. A fails.', 'C'],
    ['The answer is “C”. A fails.', 'C'], ['The answer is letter C. A fails.', 'C'], ['ANSWER: $C$\n\nThis rules out A and B.', 'C'],
    ['{"answer": "C", "reason": "A is warm"}', 'C'], ['<answer>C</answer>', 'C'], ['<final_answer>C</final_answer>', 'C'],
    ['**Answer:**\n\nC. blue\n\nRed is warm.', 'C'], ['The answer is blue, since red is warm.', 'C'],
    ['A) red is wrong.\nB) green is wrong.\nSo the answer is **C) blue**.', 'C'],
    ['The answer is A. Wait, no, the answer is C.', 'C'], ['The answer is A. Actually, C.', 'C'], ["It's not B; the answer is C", 'C'],
    ['It is not A, the answer is C', 'C'], ['The answer is not A but C.', 'C'], ['I would eliminate A, B and D, leaving C.', 'C'],
    ['Answer: rules out D, leaving C', 'C'], ['Final answer: C\n\nNote: A would be right for a warm colour.', 'C'],
    ['If the answer were A, it would be warm. The answer is C.', 'C'], ["I don't think the answer is A. The answer is C.", 'C'],
    ['Red is tempting.\n\n**Blue** is the answer.', 'C'], ['Option C is correct; option A is wrong, option B is wrong and option D is wrong.', 'C'],
    ['My answer: I think it is C.', 'C'], ['The answer is a tricky one, but I would say C.', 'C'], ['The answer is a primary colour: C', 'C'],
    ['The option that is a match: C', 'C'], ['Is it A? The answer is C. Hmm.', 'C'], ['The answer is: C, because A and B are warm.', 'C'],
    ['The correct answer is C, but many people pick A.', 'C'], ['A: wrong\nB: wrong\nC: correct\nD: wrong', 'C'],
    ['A. red ❌\nB. green ❌\nC. blue ✅', 'C'], ['The answer is C (not A).', 'C'],
  ],
  'a hedge': [
    ['Both A and C could be right.', '-'], ['The answer is A or C.', '-'], ['The answer is A/C', '-'], ['Answer: A C', '-'],
    ['Either A or C.', '-'], ['The answer is A, or maybe C.', '-'], ['A and C are correct.', '-'], ['\\boxed{A, C}', '-'],
    ['The answer could be A or C.', '-'], ['Red or blue', '-'], ['The answer is A. Or perhaps C.', '-'], ['The answer is A & C', '-'],
    ['AC', '-'], ['The answer is A–C', '-'],
  ],
  'no choice': [
    ['A difficult question; I do not know.', '-'], ['I do not know.', '-'], ['The answer is unknown.', '-'], ['It depends.', '-'],
    ['A. red\nB. green\nC. blue\nD. none', '-'], ['The options are:\nA. red\nB. green\nC. blue', '-'], ["The answer isn't A.", '-'],
    ['The answer is not A.', '-'], ["C'est difficile.", '-'], ['N/A', '-'], ['A is incorrect.', '-'], ['Neither A nor B.', '-'], ['It cannot be A.', '-'],
    ["I don't think the answer is A.", '-'], ['Not A.', '-'], ['The answer is not red.', '-'], ['If the answer is A, then it is warm.', '-'],
  ],
  'other languages': [
    ['答案是C。', 'C'], ['故选C', 'C'], ['选C。因为A是暖色', 'C'], ['选项C正确', 'C'], ['正确答案：C', 'C'], ['不选A，选C', 'C'], ['A错误，B错误，因此选C', 'C'],
    ['答案是C，不是A', 'C'], ['答案是C不是A', 'C'], ['答えはＣです', 'C'], ['正解はCです。Aではありません。', 'C'], ['Cが正解です', 'C'], ['答えはAではなくCです', 'C'], ['答え：Aではありません', '-'],
    ['정답은 C입니다', 'C'], ['정답: C', 'C'], ['A가 아니라 C가 정답입니다.', 'C'], ['정답은 A가 아닙니다', '-'],
    ['Ответ: С', 'C'], ['Правильный ответ — C.', 'C'], ['Ответ: C, а не A.', 'C'], ['Ответ не A.', '-'], ['Вариант C верный, вариант A неверный.', 'C'],
    ['Die richtige Antwort ist C.', 'C'], ['Die Antwort ist nicht A, sondern C.', 'C'], ['Antwort: C', 'C'], ['C ist richtig, A ist falsch.', 'C'], ['Daher ist die Antwort C, weil A warm ist.', 'C'],
    ['La bonne réponse est la C.', 'C'], ["La réponse n'est pas A, mais C.", 'C'], ["La réponse n'est pas A.", '-'], ["C'est la réponse C.", 'C'],
    ['La respuesta correcta es la C.', 'C'], ['La respuesta no es A.', '-'], ['Respuesta: C', 'C'], ['Por lo tanto, la opción correcta es C, no A.', 'C'],
    ['La risposta corretta è la C.', 'C'], ['La risposta non è A.', '-'], ['A resposta correta é a C.', 'C'], ['A resposta não é A, mas C.', 'C'], ['A alternativa correta é C', 'C'],
    ['الإجابة الصحيحة هي C', 'C'], ['الإجابة: C', 'C'], ['सही उत्तर C है।', 'C'], ['उत्तर: C', 'C'], ['उत्तर A नहीं है', '-'],
    ["Doğru cevap C'dir.", 'C'], ['Cevap: C', 'C'], ['Prawidłowa odpowiedź to C.', 'C'], ['Odpowiedź: C', 'C'], ['Đáp án đúng là C.', 'C'], ['Vậy đáp án là C, không phải A.', 'C'],
  ],
  'lines': [
    ['Let me think.\n\nC', 'C'], ['Let me think about the colour.\nC) blue', 'C'], ['C\n\nA: wrong\nB: wrong\nD: wrong', 'C'],
    ['C. blue\n\nRed and green are warm.', 'C'], ['C\n\nA is a warm colour, so is B.', 'C'], ['It says so.\nC. The sky is not red.', 'C'],
  ],
  'texts and labels in the text': [
    ['The sky is blue.', 'C'], ['I would say blue, not red.', 'C'], ['Option C is a better fit than the rest.', 'C'], ['It must be C', 'C'],
    ['The correct choice is C. This option is a primary colour.', 'C'], ['The answer is C. The other option is a mix of colours.', 'C'],
    ['Answer: C. A choice like this is a classic.', 'C'], ['I like it blue-green.', '-'], ['Bluetooth', '-'], ['Use plan B for it.', '-'],
  ],
};

describe('readChoice', () => {
  for (const [kind, cases] of Object.entries(CASES)) {
    it.each(cases)(`${kind}: %j is %s`, (output, expected) => {
      expect(read(output) || '-').toBe(expected);
    });
  }

  it.each<[string, readonly unknown[], string]>([
    ['Answer: I think it is B.', TEN, 'B'], ["The answer is I don't know.", TEN, '-'], ['Answer: I cannot determine this.', TEN, '-'],
    ['Choice: C. My choice is I believe right.', TEN, 'C'], ['The answer is I.', TEN, 'I'], ["I'm not sure.", TEN, '-'], ['I is correct.', TEN, 'I'],
    ['The answer is a pear.', ['an apple', 'a pear', 'a plum'], 'B'], ['The answer is a pear, because it is sweet.', ['an apple', 'a pear'], 'B'],
    ['Answer: a dog.', ['a cat', 'a dog'], 'B'], ['Pear', ['an apple', 'a pear', 'pear'], 'C'],
    ['I say New York', ['Paris', 'Rome', 'New York', 'York'], 'C'], ['York', ['Paris', 'Rome', 'New York', 'York'], 'D'],
    ['neutral\n\nExplanation: there is neither entailment nor contradiction', ['entailment', 'neutral', 'contradiction'], 'B'],
    ['Both statements are true: Both A and B.', ['red', 'green', 'Both A and B', 'Neither'], 'C'], ['None of the above', ['x1', 'x2', 'None of the above'], 'C'],
    ['It is 3.5', ['3', '5', '4'], '-'], ['The result is -4.', ['4', '5'], '-'], ['It costs $55', ['$5', '$55'], 'B'], ['It goes at 13 m/s', ['3 m/s', '13 m/s'], 'B'],
    ['The result is 4.', ['3', '4', '5'], 'B'], ['It is 5%', ['5', '6'], '-'], ['The answer is is.', ['is', 'are', 'was'], 'A'], ['The answer is that is it.', ['is', 'are'], '-'],
    ['青です', ['赤', '青'], 'B'], ['파랑입니다', ['빨강', '파랑'], 'B'], ['答案是蓝色', ['红色', '蓝色'], 'B'],
    ['정답은 3번입니다', [{ label: '1', text: 'a1' }, { label: '2', text: 'b1' }, { label: '3', text: 'c1' }], '3'], ['The answer is 2', [{ label: '1', text: '4' }, { label: '2', text: '1' }], '2'],
    ['There are 2 apples and 1 pear.', [{ label: '1', text: 'yes' }, { label: '2', text: 'no' }], '-'], ['③', [{ label: '1', text: 'x' }, { label: '2', text: 'y' }, { label: '3', text: 'z' }], '3'],
    ['E is correct.', TEN, 'E'], ['Yes, that is not wrong.', ['yes', 'no'], 'A'], ['Vitamin C is needed.', TEN, '-'], ['I think so.', TEN, '-'],
    ['mm', ['Mm', 'mm', 'MM'], 'B'], ['The unit is mm.', ['Mm', 'mm', 'km'], 'B'],
  ])('%j of %j is %s', (output, choices, expected) => {
    expect(read(output, choices) || '-').toBe(expected);
  });

  it.each([
    ['A, C', 'A,C'], ['A and C', 'A,C'], ['AC', 'A,C'], ['\\boxed{AC}', 'A,C'], ['The answers are A and C.', 'A,C'], ['Answer: A, C', 'A,C'], ['答案：AC', 'A,C'],
    ['A is correct. B is wrong. C is correct.', 'A,C'], ['A', 'A'], ['The correct options are A, B and C', 'A,B,C'], ['red and blue', 'A,C'], ['A、C', 'A,C'], ['Options A and C are correct; B is wrong.', 'A,C'],
  ])('several: %j is %s', (output, expected) => {
    expect(read(output, COLOURS, true)).toBe(expected);
  });

  it('says by which words', () => {
    const listed = labelledChoices({ inputs: { choices: COLOURS } });
    const words = (output: string) => readChoice(output, listed, false).words;
    expect(words('Hm. **The answer is C**, not A.')).toBe('answer is C');
    expect(words('So $\\boxed{\\text{C}}$')).toBe('\\boxed{\\text{C}}');
    expect(words('C')).toBe('C');
  });
});
