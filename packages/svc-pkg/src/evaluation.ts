/**
 * The checkers and statistics of the service that this command line uses. `@svc/service` is not published: the build
 * puts these parts of it into this file (`vite.config.ts`).
 */
export {
  type AlikeItems,
  addUp,
  type Bar,
  barVerdict,
  type ClusteredSpreads,
  compareScores,
  type GroupScores,
  groupScores,
  type Interval,
  isBar,
  isOlderThanBar,
  normalQuantile,
  type PairSums,
  recheckOutput,
  type ScorerPlan,
  type StoredScoring,
  storedScoring,
  textAt,
  type Verdict,
  verdictOf,
  widenInterval,
} from '@svc/service/evaluation';
