import { ITEM_SCHEMA } from '../item/item.ts';
import { compileRule, KIND, type ValueRule } from '../item/value-rule.ts';
import type { FastRule } from './known-keys.ts';

/** A kind that no value has: the reference path reads whatever has this rule. */
const NOTHING: FastRule = { ...compileRule({}), kinds: 0 } as FastRule;

function withMembers(rule: ValueRule, members: Readonly<Record<string, FastRule>>): FastRule {
  const own = [...(rule as FastRule).members, ...Object.entries(members)];
  return { ...rule, members: new Map(own) } as FastRule;
}

/** An asset that is a link already: content, a file or a short form would be normalised. */
const ASSET: FastRule = withMembers(compileRule({ type: 'object' }), {
  mime_type: compileRule({ type: 'string' }) as FastRule,
  url: { ...(compileRule({ type: ['string', 'null'] }) as FastRule), isUrl: true },
  content_type: NOTHING,
  encoding: NOTHING,
  data: NOTHING,
  path: NOTHING,
});

/** The schema's rule, without anything that the reference path has to normalise. */
export const ITEM_RULE: FastRule = (() => {
  const rule = compileRule(ITEM_SCHEMA) as FastRule;
  const { assets, checker } = Object.fromEntries(rule.members);
  if (assets === undefined || checker === undefined)
    throw new Error('The schema has no assets or no checker.');
  return {
    ...withMembers(rule, {
      assets: { ...assets, items: ASSET, others: ASSET, hasAssets: true },
      checker: withMembers(
        { ...checker, kinds: KIND.string | KIND.null | KIND.object },
        {
          encoding: NOTHING,
          path: NOTHING,
          url: { ...(compileRule({}) as FastRule), isUrl: true },
        },
      ),
    }),
    isItem: true,
  };
})();

/** Keys, besides those of {@link ITEM_RULE}, of items that are left to the reference path. */
export interface RefusedKeys {
  readonly item: readonly string[];
  readonly inputs: readonly string[];
  readonly checker: readonly string[];
}

/** The rule of items, with none of these keys allowed. */
export function itemRuleWithout(refused: RefusedKeys): FastRule {
  const without = (rule: FastRule | undefined, keys: readonly string[]): FastRule =>
    withMembers(rule ?? ITEM_RULE, Object.fromEntries(keys.map((key) => [key, NOTHING])));
  const { members } = ITEM_RULE;
  const parts = {
    inputs: without(members.get('inputs'), refused.inputs),
    checker: without(members.get('checker'), refused.checker),
  };
  return without(withMembers(ITEM_RULE, parts), refused.item);
}
