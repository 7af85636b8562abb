import { Text } from '@mantine/core';
import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import { nameOf, type Run } from '../runs/queries.ts';
import { Part } from '../ui/layout/page.tsx';
import { leavesOf, pointerName } from '../ui/pointer-of.ts';
import { texts } from '../ui/table/cells.tsx';
import { DataTable } from '../ui/table/data-table.tsx';
import { plainText } from '../ui/text/formats.ts';

/** The members of configurations that are not the same in all runs; undefined where a configuration has no such member. */
export function configDifferences(runs: readonly Run[]) {
  const flat = runs.map(({ config }) => new Map(leavesOf(config as unknown as JsonObject)));
  const paths = [...new Set(flat.flatMap((members) => [...members.keys()]))];
  return paths
    .map((path) => ({ path: pointerName(path), values: flat.map((members) => members.get(path)) }))
    .filter(({ values }) => new Set(values.map((value) => canonicalJson(value ?? null))).size > 1);
}

type ConfigDifference = ReturnType<typeof configDifferences>[number];

export function ConfigDifferences({ runs }: { readonly runs: readonly Run[] }) {
  const different = configDifferences(runs);
  return (
    <Part title="What differs in the configurations">
      <DataTable
        label="Differences of configurations"
        columns={[
          { label: 'Setting', size: 160, cell: ({ path }: ConfigDifference) => path },
          ...runs.map((run, at) =>
            texts(
              nameOf(run),
              ({ values }: ConfigDifference) => (
                <Text size="sm" dir="auto" className="lines">
                  {plainText(values[at] ?? '–', 2_000)}
                </Text>
              ),
              { key: `${at}`, size: 160, share: 1 },
            ),
          ),
        ]}
        rows={different}
        keyOf={({ path }) => path}
        empty="Nothing."
      />
    </Part>
  );
}
