import { describe, expect, it } from 'vitest';
import type { DecimalSign } from './quantities.ts';
import { showRational } from './rational.ts';
import { readAnswerNumber, readNumber } from './read-number.ts';

const read = (output: string, decimal: DecimalSign = '.'): string => {
  const found = readNumber(output, decimal);
  return found === undefined ? '-' : showRational(found.value);
};

/** Outputs by the number that a careful person reads in them; `-` for none. */
const CASES: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  'a box': [
    ['So $\\boxed{72}$.', '72'],
    ['\\boxed{\\frac{3}{2}}', '1.5'],
    ['\\boxed{\\dfrac32}', '1.5'],
    ['\\boxed{9{,}500} in 2020', '9500'],
    ['\\boxed{1\\,234\\,567}', '1234567'],
    ['\\boxed{8,\\!000}', '8000'],
    ['\\boxed{x = 5}', '5'],
    ['\\boxed{72 \\text{ clips}}', '72'],
    ['\\boxed{\\$18}', '18'],
    ['\\boxed{50\\%}', '50'],
    ['\\boxed{90^\\circ}', '90'],
    ['\\boxed{-4}', '-4'],
    ['\\boxed{1} then \\boxed{2}', '2'],
    ['\\boxed{5\\sqrt{2}}', '-'],
    ['\\boxed{2\\pi}', '-'],
    ['\\boxed{(1,2)}', '-'],
    ['\\boxed{x = 3, y = 4}', '-'],
    ['\\boxed{3 \\text{ or } 4}', '-'],
    ['\\boxed{2^{10}}', '-'],
    ['12 \\boxed{\\text{none}} so 7', '7'],
    ['12 \\boxed{\\text{none}}', '-'],
    ['\\boxed{1.5 \\times 10^{3}}', '1500'],
    ['\\boxed{2x+1}', '-'],
    ['\\boxed{\\boxed{3}}', '3'],
    ['\\boxed{12\\,\\text{cm}^2}', '12'],
  ],
  'a mark': [
    ['6 * 12 = 72\n#### 72', '72'],
    ['#### 1,234', '1234'],
    ['#### $18', '18'],
    ['#### Step 4\nThe total is 72.', '72'],
    ['#### -3', '-3'],
  ],
  'a conclusion': [
    ['The answer is 42. I checked 3 times.', '42'],
    ['Answer: 42 (of 50)', '42'],
    ['The answer to question 3 is 42 in 5 days', '42'],
    ['The answer is 3 + 4 = 7.', '7'],
    ['The answer is not 5 but 6.', '6'],
    ['So 48/2 = 24 clips were sold in 2 days.', '24'],
    ['Therefore, she has 72 clips. (See step 4 of 5 steps.)', '72'],
    ['答案是42，不是41', '42'],
    ['정답은 42입니다 (3번 풀이)', '42'],
    ['Ответ: 42 из 50', '42'],
    ['La réponse est 42, pas 41.', '42'],
    ['The answer is between 10 and 15.', '-'],
    ['The answer is 10-15.', '-'],
    ['The answer is 5 or 6.', '-'],
    ['The answer is 12:30.', '-'],
    ['The answer is 5\\sqrt{2}.', '-'],
    ['If the answer is 3, then 5 is left.', '5'],
    ['**Answer:**\n\n42\n\nas 6 times 7', '42'],
    ['Answer = -5', '-5'],
    ['The final answer is $\\frac{3}{2}$ of 4', '1.5'],
    ['{"answer": 42, "steps": 3}', '42'],
    ['<answer>42</answer> 3', '42'],
  ],
  'the last number': [
    ['72 clips altogether', '72'],
    ['First 41, then 42', '42'],
    ['$1,234.50 in all', '1234.5'],
    ['= $1,234.50', '1234.5'],
    ['1,00,000 rupees', '100000'],
    ['1\u202f234\u202f567', '1234567'],
    ["1'234'567", '1234567'],
    ['1.5 million', '1500000'],
    ['2,5 Millionen', '-'],
    ['x = -4', '-4'],
    ['\u22125', '-5'],
    ['.5', '0.5'],
    ['1e3', '1000'],
    ['1.5 x 10^3', '1500'],
    ['3 × 10⁻² m', '0.03'],
    ['50%', '50'],
    ['50 %', '50'],
    ['3/4', '0.75'],
    ['1 1/2 cups', '1.5'],
    ['2½', '2.5'],
    ['a third is 1/3', '1/3'],
    ['5kg', '5'],
    ['12 cm^2', '12'],
    ['5 m/s', '5'],
    ['25°C', '25'],
    ['3万', '30000'],
    ['100元', '100'],
    ['72.', '72'],
    ['3,5', '-'],
    ['1.234,56', '-'],
    ['1,2345', '-'],
    ['10-15', '-'],
    ['10–15', '-'],
    ['2023-05-01', '-'],
    ['1/2/2023', '-'],
    ['12:30', '-'],
    ['5\\sqrt{2}', '-'],
    ['2\\pi', '-'],
    ['2π', '-'],
    ['2^10', '-'],
    ['\\sqrt{3}', '-'],
    ['70k', '-'],
    ['2x', '-'],
    ['(7, 2)', '-'],
    ['(7,2)', '-'],
    ['[3, 5]', '-'],
    ['3 + 4', '-'],
    ['1 234 567', '-'],
    ['\\frac{x}{2}', '-'],
    ['x/2', '-'],
    ['3rd', '-'],
    ['5 or 6', '-'],
    ['44 g of CO2', '44'],
    ['item5', '-'],
    ['none', '-'],
    ['', '-'],
    ['1/0', '-'],
    ['1.2.3', '-'],
    ['10 pm', '-'],
    ['3:4', '-'],
    ['x_2', '-'],
    ['5 ± 1', '-'],
    ['7 m^2', '7'],
    ['$5$', '5'],
    ['There are 2 groups, so 10 - 5 = 5', '5'],
  ],
};

describe('readNumber', () => {
  for (const [kind, cases] of Object.entries(CASES)) {
    it.each(cases)(`${kind}: %j is %s`, (output, expected) => {
      expect(read(output)).toBe(expected);
    });
  }

  it.each([
    ['1.234,56', '1234.56'],
    ['3,5', '3.5'],
    ['1.234.567', '1234567'],
    ['3.5', '-'],
    ['1.234', '1234'],
    ['2,5 Millionen', '2500000'],
    ['\\boxed{3{,}5}', '3.5'],
  ])('with a decimal comma, %j is %s', (output, expected) => {
    expect(read(output, ',')).toBe(expected);
  });

  it('says by which words', () => {
    expect(readNumber('so \\boxed{9{,}500}', '.')?.words).toBe('\\boxed{9{,}500}');
    expect(readNumber('The **answer** is 2.50, of 3', '.')?.words).toBe('The **answer** is 2.50');
  });
});

describe('readAnswerNumber', () => {
  it.each([
    ['72', '72'],
    ['#### 72', '72'],
    ['6 * 12 = 72\n#### 72', '72'],
    ['$1,234.50', '1234.5'],
    ['3/2', '1.5'],
    ['1 1/2', '1.5'],
    ['\\frac{3}{2}', '1.5'],
    ['$\\tfrac{1}{3}$', '1/3'],
    ['50%', '50'],
    ['50\\%', '50'],
    ['-4', '-4'],
    ['72 clips', '72'],
    ['5 m/s', '5'],
    ['90^\\circ', '90'],
    ['€5', '5'],
    ['USD 5', '5'],
    ['1.5 x 10^3', '1500'],
    ['1.5 million', '1500000'],
    ['1e3', '1000'],
    [' 7 ', '7'],
    ['5 kg', '5'],
    ['3 000', '-'],
    ['(1,2)', '-'],
    ['[0, 5]', '-'],
    ['12:30', '-'],
    ['5\\sqrt{2}', '-'],
    ['\\sqrt{3}', '-'],
    ['2^10', '-'],
    ['2^{10}', '-'],
    ['2\\pi', '-'],
    ['2023-05-01', '-'],
    ['x=3, y=4', '-'],
    ['3 and 4', '-'],
    ['1, 2', '-'],
    ['3,5', '-'],
    ['1.234,56', '-'],
    ['abc', '-'],
    ['', '-'],
    ['10-15', '-'],
    ['item5', '-'],
    ['3/0', '-'],
    ['3 + 4', '-'],
    ['1 234 567', '-'],
    ['3:4', '-'],
  ])('%j is %s', (answer, expected) => {
    const value = readAnswerNumber(answer);
    expect(value === undefined ? '-' : showRational(value)).toBe(expected);
  });
});
