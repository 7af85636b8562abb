export { HubError, type HubErrorCode, type HubErrorDetails, type HubErrorOptions } from './errors.ts';
export {
  defaultSplit,
  emptySelection,
  isSplitName,
  needsRowCounts,
  parseSplit,
  resolveSplit,
  type SplitExpression,
  type SplitPart,
  type SplitRange,
  type SplitRounding,
  type SplitSize,
} from './split-slice.ts';
