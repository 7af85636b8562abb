import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { IS_LONG } from './tools/vitest/long.ts';
import { SlowFilesFirst } from './tools/vitest/slow-files-first.ts';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Tests run on the sources of every workspace package; what runs in other processes or threads uses the build. */
const alias = {
  '@svc/jsonl-v23/json': at('packages/jsonl-v23/src/json/index.ts'),
  '@svc/jsonl-v23/mapping': at('packages/jsonl-v23/src/mapping.ts'),
  '@svc/jsonl-v23/internal': at('packages/jsonl-v23/src/internal.ts'),
  '@svc/jsonl-v23': at('packages/jsonl-v23/src/index.ts'),
  '#native': at('packages/jsonl-v23/src/native-node.ts'),
  '#platform': at('packages/hub-client/src/platform-node.ts'),
  '@svc/tabular/write': at('packages/tabular/src/write/index.ts'),
  '@svc/tabular/internal': at('packages/tabular/src/internal.ts'),
  '@svc/tabular': at('packages/tabular/src/index.ts'),
  '#runtime': at('packages/tabular/src/runtime-node.ts'),
  '#byte-tools': at('packages/pkg-format/src/zip/byte-tools-node.ts'),
  '@svc/pkg-format/internal': at('packages/pkg-format/src/internal.ts'),
  '@svc/pkg-format/node': at('packages/pkg-format/src/node/index.ts'),
  '@svc/pkg-format': at('packages/pkg-format/src/index.ts'),
  '@svc/formats/internal': at('packages/formats/src/internal.ts'),
  '@svc/formats': at('packages/formats/src/index.ts'),
  '@svc/hub-client/egress': at('packages/hub-client/src/egress/index.ts'),
  '@svc/hub-client/internal': at('packages/hub-client/src/internal.ts'),
  '@svc/hub-client': at('packages/hub-client/src/index.ts'),
  '@svc/observability': at('packages/observability/src/index.ts'),
  '@svc/concurrency': at('packages/concurrency/src/index.ts'),
  '@svc/evaluation': at('packages/evaluation/src/index.ts'),
  '@svc/service/item-columns': at('packages/service/src/flows/item-columns.ts'),
  '@svc/service/flows': at('packages/service/src/flows/index.ts'),
  '@svc/service': at('packages/service/src/index.ts'),
  '@svc/store/postgres': at('prisma/src/postgres.ts'),
  '@svc/store/rows': at('prisma/src/rows.ts'),
  '@svc/store': at('prisma/src/index.ts'),
  'svc-pkg': at('packages/svc-pkg/src/index.ts'),
  '@svc/client': at('packages/client/src/index.ts'),
  '@svc/api': at('apps/api/src/index.ts'),
  '@svc/worker': at('apps/worker/src/index.ts'),
};

/**
 * Limits of waiting: a machine that is busy, or half as fast, takes its time, and a limit that ends a wait only delays
 * the failure of a test that hangs. `expect.poll` waits a second unless told otherwise.
 */
const TIMEOUTS = {
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 60_000 } },
};

/**
 * Threads that tests start load TypeScript, whose types Node strips by WebAssembly in each thread. V8 may crash when it
 * replaces the wrappers of such code in one thread while others use them, so it keeps them. Built code needs none of this.
 */
const EXEC_ARGV = ['--wasm-wrapper-tiering-budget=2000000000'];

/**
 * Files share the processes that run them, and the modules that these have loaded: nothing of this repository works at
 * import time or keeps state in a module. A helper registers what it cleans up with `onTestFinished`, not by a hook at its
 * top level, which only the first file would run.
 */
const SHARED = { isolate: false };

const SETUP_FILES = [at('tools/vitest/refuse-buffer-slice.ts')];

/** Files of the long form alone have it in their names. */
const SUITE = { exclude: [...configDefaults.exclude, ...(IS_LONG ? [] : ['**/*.long.test.ts'])] };

export default defineConfig({
  test: {
    // Many tests wait for processes and time-outs: four files at a time use even two cores better than two.
    maxWorkers: Math.max(4, availableParallelism() - 1),
    // All tests share the one database of a cluster.
    // biome-ignore lint/suspicious/noUndeclaredEnvVars: no task of turbo reads it
    fileParallelism: (process.env['TEST_CITUS_URL'] ?? '') === '',
    sequence: { sequencer: SlowFilesFirst },
    projects: [
      {
        resolve: { alias },
        test: {
          name: 'packages',
          include: ['packages/*/{src,test}/**/*.test.ts', 'tools/**/*.test.ts'],
          execArgv: EXEC_ARGV,
          setupFiles: SETUP_FILES,
          ...SUITE,
          exclude: [...SUITE.exclude, '**/conformance-web.test.ts'],
          ...SHARED,
          ...TIMEOUTS,
        },
      },
      {
        // Archives and Parquet once more, with what browsers use.
        resolve: {
          alias: {
            ...alias,
            '#byte-tools': at('packages/pkg-format/src/zip/byte-tools-web.ts'),
            '#runtime': at('packages/tabular/src/runtime-browser.ts'),
          },
        },
        test: {
          name: 'packages-web',
          include: [
            `packages/pkg-format/test/${IS_LONG ? '{conformance,limits,mutations,write-package}' : 'conformance-web'}.test.ts`,
            'packages/tabular/test/codecs.test.ts',
          ],
          execArgv: EXEC_ARGV,
          setupFiles: SETUP_FILES,
          ...SUITE,
          ...SHARED,
          ...TIMEOUTS,
        },
      },
      {
        resolve: { alias },
        test: {
          name: 'service',
          include: [
            'prisma/{src,test}/**/*.test.ts',
            'apps/*/{src,test}/**/*.test.ts',
            'deploy/**/*.test.ts',
            'docs/**/*.test.ts',
          ],
          globalSetup: ['prisma/test/postgres.ts'],
          execArgv: EXEC_ARGV,
          setupFiles: SETUP_FILES,
          ...SUITE,
          ...SHARED,
          ...TIMEOUTS,
        },
      },
    ],
  },
});
