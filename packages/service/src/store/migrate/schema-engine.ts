import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import {
  bindMigrationAwareSqlAdapterFactory,
  type SqlMigrationAwareDriverAdapterFactory,
} from '@prisma/driver-adapter-utils';

/**
 * Opens Prisma's own migration engine on one database, as WebAssembly: the same steps as `prisma migrate`, and no binary to
 * download. It applies migrations; what needs a shadow database (`createMigration`, a comparison with the migrations folder)
 * does not work through the adapter.
 */
export async function openSchemaEngine(factory: SqlMigrationAwareDriverAdapterFactory, schema?: string) {
  loading ??= loadBindings();
  const bindings = await loading;
  const adapter = bindMigrationAwareSqlAdapterFactory(factory);
  const datamodels: [string, string][] | undefined =
    schema === undefined ? undefined : [['schema.prisma', schema]];
  const engine = await bindings.SchemaEngine.new({ datamodels }, () => undefined, adapter);
  return { engine, [Symbol.dispose]: () => engine.free() };
}

type Bindings = typeof import('@prisma/schema-engine-wasm/schema_engine_bg');
type Imports = Record<string, unknown>;

/** What this file needs of a global that the compiler's library has only for browsers. */
declare const WebAssembly: {
  instantiate(
    bytes: Uint8Array,
    imports: Record<string, Imports>,
  ): Promise<{ instance: { exports: object } }>;
};

/** Once for the process: the bindings keep the instance in a variable of their module. */
let loading: Promise<Bindings> | undefined;

async function loadBindings(): Promise<Bindings> {
  const bindings = await import('@prisma/schema-engine-wasm/schema_engine_bg');
  // The package's entry imports the .wasm file as a module, which Node does only behind a flag.
  const glueFile = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg');
  const wasm = await readFile(join(dirname(glueFile), 'schema_engine_bg.wasm'));
  const { instance } = await WebAssembly.instantiate(wasm, {
    './schema_engine_bg.js': withIdleTimers(bindings as unknown as Imports),
  });
  (bindings as unknown as { __wbg_set_wasm(exports: object): void }).__wbg_set_wasm(instance.exports);
  (instance.exports as { __wbindgen_start?: () => void }).__wbindgen_start?.();
  return bindings;
}

/** The engine leaves a 10 s timer behind for a lock that it has long had: it must not keep the process alive. */
function withIdleTimers(imports: Imports): Imports {
  const wrapped: Imports = { ...imports };
  for (const [name, value] of Object.entries(imports)) {
    if (!name.startsWith('__wbg_setTimeout_')) continue;
    wrapped[name] = (...args: unknown[]): unknown => {
      const timer = (value as (...args: unknown[]) => unknown)(...args);
      (timer as { unref?: () => void } | null)?.unref?.();
      return timer;
    };
  }
  return wrapped;
}
