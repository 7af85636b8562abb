export { withMarks } from './assets/marked-files.ts';
export {
  BAR_SCHEMA,
  BAR_VERDICT_SCHEMA,
  type Bar,
  type BarVerdict,
  barVerdict,
  isBar,
  isBarVerdict,
  isOlderThanBar,
  parseBar,
  stableNumber,
} from './bar.ts';
export { UNREADABLE } from './checkers/checker.ts';
export { CHECKER_DOCS } from './checkers/checkers.ts';
export { type ConfigDifference, configDifferences } from './config/config-differences.ts';
export {
  parseAddedScorers,
  parseRescore,
  parseRunConfig,
  parseStoredRunConfig,
} from './config/parse-run-config.ts';
export {
  type JudgeConfig,
  judgesOf,
  MAIN_SCORER,
  type ModelConfig,
  modelOf,
  type Price,
  type ProviderConfig,
  promptsOf,
  type RunConfig,
  type RunSelection,
  reasoningOf,
  type ScorerPlan,
  scorersOf,
  wireFormatOf,
} from './config/run-config.ts';
export {
  CHECKER_NAME_SCHEMA,
  CHECKER_OPTIONS_SCHEMA,
  CHECKER_SCHEMA,
  CHECKER_SCHEMAS,
  JUDGE_SCHEMA,
  MAX_COST_SCHEMA,
  PRICE_SCHEMA,
  PROVIDER_SCHEMA,
  PROVIDER_SCHEMAS,
  RUN_CONFIG_SCHEMA,
  SCORER_SCHEMA,
  SCORERS_SCHEMA,
  SELECT_SCHEMA,
} from './config/run-config-schema.ts';
export { fieldMissing, lastMessageText } from './item/build-messages.ts';
export { isIndex, JsonText, pointerSteps, textAt } from './item/canonical-text.ts';
export { checkRunPattern, countScoring, type ScoringFacts } from './plan/count-scoring.ts';
export {
  asksTheSame,
  describePlan,
  type PlanCounts,
  type PlannedRequests,
  type RunPlan,
  type RunWarning,
  UNSCORABLE_REASONS,
} from './plan/describe-plan.ts';
export { estimateRun, outputLimit } from './plan/estimate-run.ts';
export { prepareItem } from './prepare-item.ts';
export {
  type ChatMessage,
  type Completion,
  type Provider,
  type ProviderRequest,
  type TokenCounts,
  tokenCounts,
  type WireFormat,
} from './provider.ts';
export { type RedactDeps, redactResult, redactScores } from './redact-result.ts';
export { rebuildMessages, rebuildRequest } from './request/rebuild-request.ts';
export {
  estimateInputTokens,
  hashRequest,
  modelRequest,
  type RequestBody,
  requestBody,
  requestText,
} from './request/request-body.ts';
export { toFailure } from './result-facts.ts';
export { RunError, type RunErrorCode, runCancelled } from './run-error.ts';
export { type FindAnswer, type RunClock, runItem } from './run-item.ts';
export type {
  EarlierAnswer,
  RunEnd,
  RunFailure,
  RunItem,
  RunResult,
  RunResultStatus,
  RunSession,
  StoredOutput,
} from './run-session.ts';
export {
  addUsage,
  recheckOutput,
  type Scorer,
  type Scorers,
  type StoredScoring,
  scoreOutput,
  storedScoring,
} from './score-output.ts';
export {
  type Agreement,
  type AgreementCells,
  agreementOf,
} from './statistics/agreement.ts';
export {
  type ComparedScores,
  compareScores,
  type PairSums,
  type Verdict,
  verdictOf,
  widenInterval,
} from './statistics/compare-scores.ts';
export { errorGroup, errorWords, foldMessage } from './statistics/error-group.ts';
export {
  type AlikeItems,
  addUp,
  type ClusteredSpreads,
  type GroupScores,
  groupScores,
} from './statistics/group-scores.ts';
export { type Interval, normalQuantile, type Spread } from './statistics/intervals.ts';
export { costOf, type RunPrices, readPrices, roundCost, runCost } from './statistics/run-cost.ts';
export {
  type CheckRunner,
  createCheckRunner,
  type ProviderResponse,
  readProviderResponse,
} from './threads/check-runner.ts';
