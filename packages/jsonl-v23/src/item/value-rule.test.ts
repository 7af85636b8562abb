import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { times } from '../../../../tools/vitest/long.ts';
import type { JsonValue } from '../json/json-value.ts';
import { ITEM_SCHEMA } from './item.ts';
import { compileRule, findViolations } from './value-rule.ts';

const KEYS =
  'id type inputs prompt messages role content system_prompt choices answer criteria checker assets meta judge_prompt tags x'.split(
    ' ',
  );

/** Values that contain the known keys often, both where the schema knows them and elsewhere. */
const { value: nearlyItem } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom<JsonValue>(null, true, 0, 1.5, -7, '', 'text'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie('value'), { maxKeys: 6, noNullPrototype: true }),
  ),
}));

it('finds the same violations as a JSON Schema 2020-12 validator, at the same locations', () => {
  const validate = new Ajv2020({ allowUnionTypes: true, allErrors: true }).compile(ITEM_SCHEMA);
  const rule = compileRule(ITEM_SCHEMA);
  let refused = 0;
  fc.assert(
    fc.property(nearlyItem as fc.Arbitrary<JsonValue>, (value) => {
      const [found] = findViolations(value, rule, 1);
      expect(found === undefined).toBe(validate(value));
      if (found === undefined) return;
      refused += 1;
      expect((validate.errors ?? []).map(({ instancePath }) => instancePath)).toContain(found.path);
    }),
    { numRuns: times(5000, 1000) },
  );
  expect(refused).toBeGreaterThan(500);
});
