import type { Checker } from './checker.ts';
import { choice } from './choice.ts';
import { exactMatch } from './exact-match.ts';
import { includes } from './includes.ts';
import { jsonEqual } from './json-equal.ts';
import { numeric } from './numeric.ts';
import { regex } from './regex.ts';

/** The checkers by `checker.type`, except `judge`, which asks a model. */
export const CHECKERS: Readonly<Record<string, Checker>> = {
  exact_match: exactMatch,
  includes,
  regex,
  numeric,
  choice,
  json_equal: jsonEqual,
};
