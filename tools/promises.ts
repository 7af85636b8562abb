/** A test of the fast suite: its file, and its title or the part of it that is not made from a table. */
type Test = readonly [file: string, title: string];

const API = 'apps/api/test';
const WORKER = 'apps/worker/test';
const FAULTS = 'apps/standalone/test/faults';
const PACKAGE_LIMIT: Test = [`${API}/limits.test.ts`, '%s=%i'];

/**
 * The test that keeps each limit, at the lowest level that can break it. `tools/promises.test.ts` refuses a limit without one.
 */
export const LIMITS: Readonly<Record<string, Test>> = {
  SVC_MAX_UPLOAD_BYTES: [`${API}/limits.test.ts`, 'SVC_MAX_UPLOAD_BYTES is counted while the file arrives'],
  SVC_MAX_ARCHIVE_ENTRIES: PACKAGE_LIMIT,
  SVC_MAX_UNCOMPRESSED_BYTES: [
    `${API}/import-limits.test.ts`,
    'SVC_MAX_UNCOMPRESSED_BYTES counts the texts of items',
  ],
  SVC_MAX_EXPANSION_RATIO: [`${API}/import-limits.test.ts`, 'are compared with the bytes that were sent'],
  SVC_MAX_ROWS: [`${API}/import-limits.test.ts`, 'SVC_MAX_ROWS counts rows of uploads and of the hub'],
  SVC_MAX_LINE_BYTES: PACKAGE_LIMIT,
  SVC_MAX_ASSET_BYTES: PACKAGE_LIMIT,
  SVC_MAX_JSON_DEPTH: [`${API}/limits.test.ts`, 'SVC_MAX_JSON_DEPTH'],
  SVC_MAX_JSON_BODY_BYTES: [
    `${API}/limits.test.ts`,
    'SVC_MAX_JSON_BODY_BYTES, whether the length is declared',
  ],
  SVC_MAX_FORM_FIELDS: [`${API}/limits.test.ts`, 'SVC_MAX_FORM_FIELDS counts parts of every kind'],
  SVC_MAX_FORM_FIELD_BYTES: [`${API}/limits.test.ts`, 'SVC_MAX_FORM_FIELDS and SVC_MAX_FORM_FIELD_BYTES'],
  SVC_HEADERS_TIMEOUT_MS: [`${API}/slow-clients.test.ts`, 'whose headers dribble gets 408'],
  SVC_IDLE_BODY_TIMEOUT_MS: [`${API}/slow-clients.test.ts`, 'that says nothing at all is let go'],
  SVC_JSON_REQUEST_TIMEOUT_MS: [`${API}/slow-clients.test.ts`, 'whose JSON body dribbles gets 408'],
  SVC_MAX_CONCURRENT_IMPORTS: [
    `${API}/limits.test.ts`,
    'SVC_MAX_CONCURRENT_IMPORTS: the next waits, and is refused',
  ],
  SVC_IMPORT_WAIT_MS: [
    `${API}/limits.test.ts`,
    'SVC_MAX_CONCURRENT_IMPORTS: the next waits, and is refused after SVC_IMPORT_WAIT_MS',
  ],
  SVC_MAX_CONCURRENT_UPLOADS: [
    `${API}/slow-clients.test.ts`,
    'holds at most half of the permits for uploads',
  ],
  SVC_MAX_SPOOL_PERCENT: [`${API}/client-limits.test.ts`, 'share of the free disk that uploads take'],
  SVC_MAX_STREAMS_PER_CLIENT: [`${API}/client-limits.test.ts`, 'exports and item streams of one client'],
  SVC_MAX_EVENT_STREAMS_PER_CLIENT: [`${API}/client-limits.test.ts`, 'event streams of one client'],
  SVC_SLOW_READER_TIMEOUT_MS: [`${API}/client-limits.test.ts`, 'time of a reader for 512 KiB'],
  SVC_SLOW_UPLOAD_TIMEOUT_MS: [
    `${API}/slow-clients.test.ts`,
    'may take its time with an upload that keeps a pace',
  ],
  SVC_FAILED_KEYS_PER_MINUTE: [`${API}/session.test.ts`, 'wrong keys start none, count as guesses'],
  SVC_RATE_LIMIT_PER_MINUTE: [`${API}/rate-limit.test.ts`, 'counts each key separately'],
  SVC_MAX_PREVIEW_BYTES: [`${API}/limits.test.ts`, 'SVC_MAX_PREVIEW_BYTES bounds the answer of a preview'],
  SVC_DRAIN_TIMEOUT_MS: ['packages/service/src/lifecycle/run-process.test.ts', 'stops a service'],
};

/** The test that keeps each promise to users: the one that must fail when somebody breaks it, whatever else does. */
export const PROMISES: Readonly<Record<string, Test>> = {
  // packages and formats
  'the version hash depends on the values of items, and not on how they are written': [
    'packages/jsonl-v23/src/hash/version-hash.test.ts',
    'does not depend on key order, white space and escapes',
  ],
  'numbers keep every digit': [
    'packages/jsonl-v23/src/json/canonical-number.test.ts',
    'keeps every digit of an integer',
  ],
  'a malformed archive is refused, by both readers alike': [
    'packages/pkg-format/test/conformance.test.ts',
    'say the same of $name',
  ],
  'an archive is read within its limits': [
    'packages/pkg-format/test/limits.test.ts',
    'accept what is exactly at the limit',
  ],
  'a package is written with the same bytes each time': [
    'packages/pkg-format/test/write-package.test.ts',
    'keeps the version hash and every section name, and writes the same bytes again',
  ],
  'the same rows are the same items in JSON Lines, JSON, CSV and Parquet': [
    'packages/tabular/src/schema/infer-schema.test.ts',
    'gives the same rows from JSON Lines, JSON, CSV and Parquet',
  ],
  'Parquet is written as other programs read it': [
    'packages/tabular/test/write-tables.test.ts',
    'writes Parquet that DuckDB, hyparquet and our reader read alike',
  ],
  'damaged Parquet ends in an error that names the file': [
    'packages/tabular/src/parquet/read-parquet.test.ts',
    'any damage ends in a TableError or in rows',
  ],
  'no input makes a pattern slow': [
    'tools/patterns.test.ts',
    'take time that grows with their input and no faster',
  ],

  // operation
  'a process that stops is not ready and still serves': [
    `${API}/connections.test.ts`,
    'is not ready and still serves for SVC_DRAIN_DELAY_MS',
  ],
  'idle connections leave file descriptors to requests': [
    'packages/service/src/http/server/http-server.test.ts',
    'keeps connections for another request while they leave file descriptors to all else',
  ],
  'a mistake of an operator gets one sentence that says what to do': [
    'apps/standalone/test/operator-mistakes.test.ts',
    'wrong password',
  ],
  'TLS to PostgreSQL verifies what sslmode says': ['packages/service/test/store/driver/tls.test.ts', '%s'],

  // imports and exports
  'a dataset is stored whole or not at all': [
    'packages/service/src/store/datasets/dataset-store.test.ts',
    'shows nothing of an import before it is committed',
  ],
  'every export comes in again with the same hash': [
    `${API}/exports-come-in.test.ts`,
    'takes back its exports: %s',
  ],
  'an export is the same, byte for byte': [`${API}/export.test.ts`, 'gives the same bytes after going round'],
  'a faulty line is named with its file and place': [
    `${API}/upload.test.ts`,
    'reports malformed JSON on line 7 of sections/b.jsonl as exactly that',
  ],
  'a slice of a hub dataset is stored exactly': [
    `${API}/hub.test.ts`,
    'stores a slice exactly, with where it came from',
  ],
  'a dry run stores nothing': [`${API}/hub.test.ts`, 'dry-runs every row and stores nothing'],
  'a request with an Idempotency-Key is done once': [
    'packages/service/src/store/idempotency/idempotency-store.test.ts',
    'runs simultaneous requests once',
  ],
  'a dataset is served as the hub serves one': [
    `${API}/hub-serving.test.ts`,
    'answers those of load_dataset',
  ],
  'files for clients of the hub are made once, kept within limits and sent whole': [
    `${API}/hub-serving-files.test.ts`,
    'keeps tables within their limits',
  ],
  'an asset is kept as long as something links it': [
    'packages/service/src/store/assets/collect-assets.test.ts',
    'removes no asset that a dataset refers to',
  ],
  'a version stays what it was': [
    `${API}/versions.test.ts`,
    'gives what that version has, by number and by hash, at every endpoint',
  ],

  // runs and scores
  'a run has one hash, which changes with every result and no other fact': [
    `${API}/proof.test.ts`,
    'is that of its items, configuration and results, and changes with each of them',
  ],
  'a bar is set before a run, and cannot be moved': [
    `${API}/proof.test.ts`,
    'cannot be moved: by the API, by an edited package, by a package that is uploaded again',
  ],
  'whatever is edited in a package of a run is named': [`${API}/verify.test.ts`, '%s is named'],
  'a dump of another service has the pass counts that it states': [
    'packages/formats/test/openai-evals-api.test.ts',
    'reads a dump of 1,319 output items with the pass counts that it states',
  ],
  'records of a run are valid under their published schema, and nothing becomes 0': [
    'packages/formats/test/every-eval-ever.test.ts',
    'writes records of Every Eval Ever that its schemas allow',
  ],
  'a task of the hub has items of one kind': [
    `${API}/hub-serving.test.ts`,
    'have the tasks of Inspect, each with items of one kind',
  ],
  'published scores change the tag of a card, not its commit': [
    `${API}/hub-serving.test.ts`,
    'shows the scores of published runs in the card, which has another tag then and the same commit',
  ],
  'a run stores one result for each item, and continues where it stopped': [
    'packages/service/src/flows/run-dataset.test.ts',
    'does not end when its worker stops, and continues on another one',
  ],
  'a cancelled run asks nothing more': [
    'packages/service/src/flows/run-dataset.test.ts',
    'ends as cancelled: aborts running calls and keeps its results',
  ],
  'a cancellation reaches the worker': [
    `${WORKER}/cancellation.test.ts`,
    'takes effect by notification, long before the next check',
  ],
  'work whose worker died is given to another one': [
    'packages/service/src/store/queue/task-queue.test.ts',
    'gives a task to another worker when its lease has expired',
  ],
  'scores and intervals are those of another program': [
    'packages/service/src/evaluation/statistics/statistics.test.ts',
    'are what Python computes from the scores, for any numbers of them',
  ],
  'an interval of 95 % covers 95 %': [
    'packages/service/src/evaluation/statistics/statistics.test.ts',
    'is 93 % to 97 % with %s items',
  ],
  'a check that takes too long ends, and nothing else': [
    'packages/service/src/evaluation/threads/check-runner.test.ts',
    'ends a check that takes too long and does the next one on a new thread',
  ],
  'a run costs no more than its budget': [
    `${WORKER}/budget.test.ts`,
    'stops before the limit, and continues with',
  ],
  'outputs that are there are not asked for again': [
    `${WORKER}/reuse.test.ts`,
    'asks nothing when a run is repeated, and says so in the plan',
  ],
  'runs are compared over the items that both have': [
    `${WORKER}/run-numbers.test.ts`,
    'compares runs by hash, id or prompt, clustered, with what else differs',
  ],
  'the gate says worse, not worse, or that it cannot tell': [
    'apps/cli/test/gate.test.ts',
    'says worse where the interval lies below the allowed drop',
  ],
  'people label without knowing scores': [
    `${API}/labels.test.ts`,
    'is the same for a seed, and shows neither score nor run',
  ],

  // access and secrets
  'what is open to everybody and to viewers is listed': [
    `${API}/access.test.ts`,
    'opens probes, sessions, documents and the console to everybody, and no change to viewers',
  ],
  'every operation is decided for every kind of key': [
    `${API}/access-matrix.test.ts`,
    'decides every operation for every kind of caller',
  ],
  'a key with handles sees nothing of other datasets': [
    `${API}/access-matrix.test.ts`,
    'finds nothing of other datasets by any id that a request can hold',
  ],
  'every change is recorded once, with its key and request': [
    `${WORKER}/audit.test.ts`,
    'has each change of four keys once, by whom and by which request, and nothing else',
  ],
  'no secret is in a log line, error, metric, row or file': [
    `${FAULTS}/secrets.test.ts`,
    'are in no log line, error, metric, row or file that they do not belong to',
  ],
  'no secret is in an exported configuration of a run': [
    'packages/pkg-format/src/secrets/sanitise-run-config.test.ts',
    'lets no secret through, whatever it is wrapped in',
  ],
  'agents change nothing unless they are allowed to': [
    'apps/cli/test/mcp.test.ts',
    'says which tools only read, and refuses the others without --allow-writes',
  ],
  'texts of datasets are marked as data for agents': [
    'apps/cli/test/mcp.test.ts',
    'marks texts of datasets, and shows characters that hide or turn text',
  ],
  'an answer to an agent has at most 16,000 characters, and loses nothing': [
    'apps/cli/test/mcp.test.ts',
    'gives every entry once, in answers of at most 16,000 characters',
  ],
  'tools for agents answer no page of another origin': [
    'apps/cli/test/mcp.test.ts',
    'refuses foreign origins, hosts and long requests',
  ],
  'nothing of a dataset runs in the console': [
    'apps/web/test/console.test.ts',
    'runs nothing and requests nothing of a hostile dataset',
  ],
  'the first page of the console takes at most 230 kB': [
    'apps/web/test/console.test.ts',
    'loads at most 230 kB of scripts before the first page',
  ],
  'the console has no barriers': ['apps/web/test/console.test.ts', 'has no barrier on any page'],

  // processes
  'a service that stops finishes what it accepted, and one that is killed loses nothing': [
    'apps/standalone/test/standalone.test.ts',
    'brings its own database, finishes what it accepted, and continues after it was killed',
  ],
  'without its database, the service says 503 and recovers': [
    `${FAULTS}/database.test.ts`,
    'makes every request 503 with Retry-After, and nothing else stops',
  ],
  'what npm start brings recovers when its database is killed': [
    `${FAULTS}/embedded-database.test.ts`,
    'killed: the service says so and ends, and the next start has everything',
  ],
  'the commands of the README work': [
    'apps/standalone/test/readme.test.ts',
    'runs every command of the README in order, and prints the outputs it shows',
  ],
  'each command of svc-pkg does what it is for': [
    'apps/cli/test/every-command.test.ts',
    'every command does what it is for, and fails with a code',
  ],
};
