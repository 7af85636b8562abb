import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { get, isRefusal } from '../../api/api.ts';
import { SmallButton, TextButton } from '../../ui/buttons.tsx';
import { Part } from '../../ui/layout/page.tsx';
import { ErrorView } from '../../ui/query-state.tsx';
import { numbers, texts } from '../../ui/table/cells.tsx';
import { DataTable } from '../../ui/table/data-table.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { formatCount, formatP, formatPercent } from '../../ui/text/formats.ts';
import type { Run } from '../queries.ts';
import type { RunSearch } from '../runs-search.ts';
import { type SliceBars, type SliceKey, sliceFilter, sliceName, useSliceKeys } from './slices.tsx';

/** False discoveries among what is shown. */
const MAX_Q = 0.05;

/** Keys that are looked at: each is a question to the service. */
const MAX_KEYS = 20;

interface NamedSlice extends Outcomes {
  readonly name: string;
  readonly filters: RunSearch | undefined;
}

/** Where a run is worse than in the rest: over all sections, types, tags and values of the metadata. */
export function WorseSlices({ run, scorer, onChoose }: Omit<Parameters<typeof SliceBars>[0], 'of'>) {
  const keys = useSliceKeys(run);
  const [isAsked, setAsked] = useState(false);
  const whole = scorer === undefined ? run.scores : run.scorers[scorer];
  const found = useQuery({
    queryKey: ['worse slices', run.id, scorer, keys.length, run.finished_at],
    queryFn: async ({ signal }) => {
      const parts = scorer === undefined ? partsOf(run) : [];
      // the run has the slices of its main scorer, however many
      const asked = keys.filter(({ value }) => scorer !== undefined || value.startsWith('/'));
      const read = await readSlices(run.id, asked.slice(0, MAX_KEYS), scorer, signal);
      const rest = asked.slice(MAX_KEYS).map(({ label }) => label);
      return { slices: [...parts, ...read.slices], left: read.left, rest };
    },
    enabled: isAsked,
  });
  const tested = worseThanRest(found.data?.slices ?? [], whole ?? { passed: 0, wrong: 0 });
  type Tested = (typeof tested)[number];
  const worse = tested.filter(({ q }) => q <= MAX_Q);
  const isDependent =
    ((run.config as { readonly repetitions?: number | null }).repetitions ?? 1) > 1 ||
    (run.config as { readonly cluster_by?: string | null }).cluster_by != null;
  return (
    <Part title="Where is it worse than the rest?">
      <Stack gap="xs">
        {found.data === undefined ? (
          <SmallButton
            label="Test all slices"
            w="fit-content"
            loading={found.isFetching}
            onClick={() => setAsked(true)}
          />
        ) : (
          <>
            {worse.length > 0 && (
              <DataTable
                label="Slices that are worse than the rest"
                columns={[
                  texts('Slice', ({ slice: { name, filters } }: Tested) =>
                    filters === undefined ? (
                      name
                    ) : (
                      <TextButton label={name} onClick={() => onChoose(filters)} />
                    ),
                  ),
                  numbers('Right', ({ share }: Tested) => formatPercent(share)),
                  numbers('In the rest', ({ restShare }: Tested) => formatPercent(restShare)),
                  numbers('Scored', ({ scored }: Tested) => formatCount(scored)),
                  numbers('q', ({ q }: Tested) => formatP(q)),
                ]}
                rows={worse}
                keyOf={({ slice }) => slice.name}
              />
            )}
            <Dimmed size="xs">
              {worse.length === 0 ? 'No slice is worse beyond chance. ' : ''}
              {formatCount(tested.length)} slices: Fisher’s exact test of right and wrong answers, with the
              false discovery rate at 5 % (Benjamini–Hochberg).
              {isDependent && ' It takes results as independent, which repetitions and clusters are not.'}
              {found.data.left.length > 0 && ` Too many values: ${found.data.left.join(', ')}.`}
              {found.data.rest.length > 0 && ` Too many keys, not tested: ${found.data.rest.join(', ')}.`}
            </Dimmed>
          </>
        )}
        {found.error !== null && <ErrorView error={found.error} />}
      </Stack>
    </Part>
  );
}

/** The sections and tags of a run, whose scores it has; types are values of items. */
const partsOf = ({ scores }: Run): readonly NamedSlice[] =>
  (['section', 'tag'] as const).flatMap((kind) =>
    Object.entries(scores[`by_${kind}`] ?? {}).map(([value, { passed, wrong }]) => ({
      name: `${kind} = ${value}`,
      filters: { [kind]: value },
      ...{ passed, wrong },
    })),
  );

async function readSlices(
  id: string,
  keys: readonly SliceKey[],
  scorer: string | undefined,
  signal: AbortSignal,
): Promise<{ readonly slices: readonly NamedSlice[]; readonly left: readonly string[] }> {
  const slices: NamedSlice[] = [];
  const left: string[] = [];
  for (const { value: by, label } of keys) {
    const params = { path: { id }, query: { by: [by], scorer } };
    const read = await get('/runs/{id}/slices', params, signal).catch((error: unknown) => {
      if (isRefusal(error, 400)) return null;
      throw error;
    });
    if (read === null) left.push(label);
    for (const { values, passed, wrong } of read?.data ?? [])
      slices.push({
        name: `${label} = ${sliceName(values[0])}`,
        filters: sliceFilter(by, values[0]),
        ...{ passed, wrong },
      });
  }
  return { slices, left };
}

type Outcomes = Pick<Run['scores'], 'passed' | 'wrong'>;

/**
 * Tests whether slices are worse than the rest of a run: for each one Fisher's exact test of right and wrong answers, with
 * the false discovery rate held over all of them (Benjamini and Hochberg 1995). The most certain come first.
 */
export function worseThanRest<Slice extends Outcomes>(slices: readonly Slice[], whole: Outcomes) {
  const total = whole.passed + whole.wrong;
  const tested = slices.flatMap((slice) => {
    const scored = slice.passed + slice.wrong;
    const rest = total - scored;
    if (scored === 0 || rest <= 0) return [];
    const [share, restShare] = [slice.passed / scored, (whole.passed - slice.passed) / rest];
    // a slice that is not worse has a p of more than a half
    const p = share >= restShare ? 1 : upperTail(total, whole.wrong, scored, slice.wrong);
    return [{ slice, share, restShare, scored, p }];
  });
  const ordered = tested.toSorted((a, b) => a.p - b.p);
  let q = 1;
  return ordered
    .toReversed()
    .map(({ p, ...one }, at) => {
      q = Math.min(q, (p * ordered.length) / (ordered.length - at));
      return { ...one, q };
    })
    .toReversed();
}

/** The probability to draw at least `least` of `wrong` among `drawn` of `total` (hypergeometric). */
function upperTail(total: number, wrong: number, drawn: number, least: number): number {
  const most = Math.min(wrong, drawn);
  let term = Math.exp(
    logChoose(wrong, least) + logChoose(total - wrong, drawn - least) - logChoose(total, drawn),
  );
  let sum = 0;
  for (let at = least; at <= most; at += 1) {
    sum += term;
    // the slice is worse than the whole, so that terms only become smaller
    if (term < sum * Number.EPSILON) break;
    term *= ((wrong - at) * (drawn - at)) / ((at + 1) * (total - wrong - drawn + at + 1));
  }
  return Math.min(1, sum);
}

const logChoose = (n: number, k: number): number => logFactorial(n) - logFactorial(k) - logFactorial(n - k);

/** From here on, three terms of Stirling's series have every digit. */
const STIRLING_FROM = 32;

function logFactorial(n: number): number {
  if (n >= STIRLING_FROM) {
    const series = 1 / (12 * n) - 1 / (360 * n ** 3) + 1 / (1260 * n ** 5);
    return n * Math.log(n) - n + 0.5 * Math.log(2 * Math.PI * n) + series;
  }
  let product = 1;
  for (let factor = 2; factor <= n; factor += 1) product *= factor;
  return Math.log(product);
}
