import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { sourceAliases } from './tools/sources.ts';
import { IS_LONG } from './tools/vitest/long.ts';
import { SlowFilesFirst } from './tools/vitest/slow-files-first.ts';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Tests run on the sources of every workspace package; what runs in other processes or threads uses the build. */
const alias = sourceAliases();

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

const SETUP_FILES = [at('tools/vitest/refuse-buffer-slice.ts'), at('tools/vitest/measure-file.ts')];

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
          exclude: [
            ...SUITE.exclude,
            '**/conformance-web.test.ts',
            'packages/service/{src,test}/store/**/*.test.ts',
          ],
          ...SHARED,
          ...TIMEOUTS,
        },
      },
      {
        // Archives and Parquet once more, with what browsers use.
        resolve: {
          alias: [
            { find: '#byte-tools', replacement: at('packages/pkg-format/src/zip/byte-tools-web.ts') },
            { find: '#runtime', replacement: at('packages/tabular/src/runtime-browser.ts') },
            ...alias,
          ],
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
            'packages/service/{src,test}/store/**/*.test.ts',
            'apps/*/{src,test}/**/*.test.ts',
            'deploy/**/*.test.ts',
            'docs/**/*.test.ts',
          ],
          globalSetup: ['packages/service/test/store/postgres.ts'],
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
