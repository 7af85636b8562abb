/** One retired word or phrase, and what to write instead. */
export interface RetiredWord {
  readonly pattern: RegExp;
  readonly use: string;
}

/** A space of a phrase also matches a line break, with the marks that begin a line of a comment. */
const phrase = (source: string, use: string): RetiredWord => ({
  pattern: new RegExp(`\\b(?:${source.replaceAll(' ', '(?:\\s+(?:(?:\\*|//|#|>)\\s+)?)')})\\b`, 'gi'),
  use,
});

/** Phrases of comments, strings, test titles and documents. */
export const PHRASES: readonly RetiredWord[] = [
  phrase('stands for', 'means, represents'),
  phrase('(?<!to )(?<!can )stands?(?! for| by| out)(?!-)|stood', 'is, appears, exists'),
  phrase('lies(?! to)|lie (?:in|at|on|within|outside|under|behind|there|next|close)', 'is, are'),
  phrase(
    '(?<!there )(?:is|are|was|were) no (?!longer|more than|less|fewer|better|worse|different|later)',
    'is not a, invalid',
  ),
  phrase('whoever|whomever', 'anyone who, the caller, the client'),
  phrase('nobody', 'no client, no caller; or the passive'),
  phrase('somebody|someone', 'a client, a caller, another process'),
  phrase('of (?:its|their|his|her|our|your) own(?! accord)', 'its own X, a separate X'),
  phrase('beside', 'next to, besides, with'),
  phrase('under way', 'in progress, still running'),
  phrase('for ever', 'forever, without a limit'),
  phrase('meanwhile', 'in the meantime, at the same time'),
  phrase('(?:is|are|was|were|be|been|being) told|told of', 'receives, reports, logs, notifies'),
  phrase('hears? of|heard of|hearing of', 'receives, reports'),
  phrase('anew', 'again'),
  phrase('mend|mends|mended|mending', 'fix, repair'),
  phrase('(?:goes|went|going) by', 'uses, follows'),
  phrase('ours', 'of this project, of the service'),
  phrase('droppings?', 'metadata files, junk files'),
  phrase('hand(?:s|ed|ing)? (?:back|on)', 'return, release, pass'),
  phrase('(?:goes|went|gone|going|is|are) away', 'disconnect, is unavailable'),
  phrase('wish|wishes|wished', 'want, ask for, request'),
  phrase('asks? to wait|asked to wait', 'rate limits'),
  phrase(
    '(?:is|are|was|were) there no more|no more than it is|can be read no more',
    'has been deleted, no longer',
  ),
  phrase('there is no (?:such|dataset|job|run)', 'X not found'),
  phrase('a stranger|strangers?', 'untrusted input, another user'),
  phrase('behind the (?:array|end|last)', 'after the end'),
  phrase('blots? out|blotted', 'redact'),
  phrase('what (?:became|becomes|will become) of', 'what happened to, the result of'),
  phrase('as the wire has it', 'as JSON'),
  phrase('(?<![\'"`/.])spools?(?!\\.clean|[\'"`/])|spooled', 'staging file, temporary file'),
  phrase('(?:takes?|took|draws?|drew) breath|breathes?|breather', 'yields to the event loop'),
  phrase('(?<!golden )(?:first|last) words', 'first byte, close'),
  phrase('bells?', 'notifier'),
  phrase('vaults?', 'cipher'),
  phrase('lanes?', 'worker pool, concurrency'),
  phrase('next to nothing', 'almost nothing; say how little'),
  phrase('(?:one|first|second|third|last|next|another|each|every|this|that|per) (?:try|tries)', 'attempt'),
  phrase('the wanted|wanted (?:file|section|dataset|upload)', 'requested'),
  phrase('no one', 'no client, no caller; or the passive'),
  phrase('(?:gives?|gave|given|giving) back', 'returns'),
  phrase('hand(?:s|ed|ing)? over', 'pass, send'),
  phrase('(?:comes?|came|coming) into being', 'is created'),
  phrase('in vain', 'without success'),
  phrase('at fault', 'invalid, in error'),
  phrase('faults? of (?:the|this|our|its)', 'internal error'),
  phrase(
    '(?:servers?|services?|hubs?|databases?|api|workers?|routes?|endpoints?|requests?|clients?|proxy|providers?|process|probes?|nothing) (?:is |are |was |were |be )?answer(?:s|ed)?',
    'responds, returns',
  ),
  phrase('(?:is|are|was|were|be|been) answered', 'gets a response'),
  phrase('answers? (?:of|from) (?:a|an|the) (?:service|server|hub|provider|model|request|api)', 'response'),
  phrase('(?:breaks?|broke|broken|breaking) off', 'fails, is interrupted, is lost'),
];

/** Words that no identifier and no file name contains, as one of its parts (`createLane`, `lane-count`). */
export const PARTS: Readonly<Record<string, string>> = {
  lane: 'pool, concurrency',
  lanes: 'pools',
  bell: 'notifier, signal',
  vault: 'cipher',
  breather: 'yielder',
  breath: 'yield',
  breathe: 'yield',
  survey: 'scan',
  spool: 'staging file, TempDir',
  spooled: 'staged',
  droppings: 'junk files',
  whoever: 'any',
  nobody: 'anonymous',
  somebody: 'other',
  patience: 'retry policy',
  moment: 'timestamp',
  refusal: 'error response',
  answered: 'responded',
  answering: 'responding',
  answers: 'responses',
};

const identifiers = (names: string, use: string): RetiredWord => ({
  pattern: new RegExp(`^(?:${names})$`),
  use,
});

/** Identifiers, whole. */
export const IDENTIFIERS: readonly RetiredWord[] = [
  identifiers('(?:MOST|LONGEST|USUAL|TYPICAL|SURELY)_\\w+', 'MAX_, DEFAULT_, EXPECTED_'),
  identifiers(
    '(?:answer(?!s?$|Column|column|Pattern$|Is$|Start|End|Key|Text|_)|(?!reference|AnswerKind$)\\w*Answer|\\w*ANSWER)\\w*',
    'response, reply, completion',
  ),
  identifiers('places?|placed|Place[A-Z]?\\w*|(?!.*In)\\w+Places?|placeOf', 'location'),
  identifiers('HAND_?BACK|handBack|handedBack', 'RELEASE, requeue'),
  identifiers('giveUp|gaveUp', 'onRetriesExhausted'),
  identifiers('TaskLost|LOST', 'LeaseLostError, LEASE_LOST'),
  identifiers('onFault|isFault|nameFault', 'internal error'),
  identifiers('WantedUpload', 'UploadRequest'),
  identifiers('FailedTryError|tryMs', 'RetryableError, attempt'),
  identifiers('asItStands', 'isVerbatim'),
  identifiers('isPlain4', 'isPlainWord'),
  identifiers('LineSlot', 'EncodedLine'),
  identifiers('RowTemplate', 'MappingPlan'),
  identifiers('ShapeMemory|ValueSite|KeyNode|SeenKey', 'ShapeNode, KnownKey'),
  identifiers('ItemScanner', 'FastItemEncoder'),
  identifiers('TokenVault|createKeyVault|createMemoryVault', 'TokenCipher'),
  identifiers('SpareBuffers', 'BufferPool'),
  identifiers('HubReference|HubSelection', 'DatasetRef, SplitReader'),
  identifiers('TextSlices|adjacentTexts', 'StringColumn'),
  identifiers('ByteRuns|fetchRuns', 'ByteRanges, fetchRanges'),
  identifiers('createTyping|uniteFeatures', 'inferSchema, mergeSchemas'),
  identifiers('KnownNames|JsonSafe|Tally', 'KeyCache, toLoggable, Counts'),
  identifiers('Finding|StyleJudge', 'Diagnostic, Linter'),
  identifiers('Described', 'ErrorView'),
  identifiers('surveyDataset|DatasetFacts|FileFacts', 'scanDataset, DatasetScan, FileDigest'),
  identifiers('moveFilesOut|moveOut', 'externalizeAssets'),
  identifiers('isDesktopDroppings', 'isJunkFile'),
  identifiers('roomBeside|isOutOfRoom', 'remainingBytes, isResourceExhausted'),
  identifiers('NOBODY|EVERYTHING', 'anonymous, unrestricted'),
  identifiers('hush|silentConnections|takePending', 'idleTimer, idleConnections, drainAcceptQueue'),
  identifiers('letHeapGrow|ProcessLike', 'configureHeap, ProcessHandle'),
];
