import { Button, Group, Kbd, Pill, TagsInput, Text, Textarea } from '@mantine/core';
import { useHotkeys, useLocalStorage } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { send } from '../../../api/api.ts';
import { useCan, useSession } from '../../../session/session.tsx';
import { SmallButton } from '../../../ui/buttons.tsx';
import { useNotify } from '../../../ui/layout/notices.tsx';
import { ErrorView } from '../../../ui/query-state.tsx';
import { Dimmed } from '../../../ui/text/dimmed.ts';
import type { Window } from '../../../ui/use-windows.ts';
import { labelsQuery, type Run } from '../../queries.ts';
import { type ListedResult, resultKey } from '../listed-result.tsx';

type Label = ListedResult['labels'][number];
type Said = Pick<Label, 'verdict' | 'note' | 'types'>;

const NOTHING: Said = { verdict: null, note: null, types: [] };
const MAX_NOTE = 10_000;
const MAX_TYPES = 20;

/** What people say of the output. The keys 1 and 0 say right and wrong, and again take that away. */
export function LabelBar(props: {
  readonly run: Run;
  readonly result: ListedResult;
  readonly onNext: (() => void) | undefined;
}) {
  const { run, result, onNext } = props;
  const { name } = useSession();
  const canLabel = useCan('editor') && result.status !== 'failed';
  const others = result.labels.filter(({ by }) => !canLabel || by !== name);
  if (!canLabel && others.length === 0) return null;
  return (
    <section className="label-bar" aria-label="Label">
      {canLabel && (
        <OwnLabel
          key={resultKey(result)}
          run={run}
          result={result}
          own={result.labels.find(({ by }) => by === name)}
          onNext={onNext}
        />
      )}
      {others.map((label) => (
        <Group key={label.by} gap="xs">
          <Text size="xs">
            {label.by}: {verdictText(label.verdict)}
          </Text>
          {label.types.map((type) => (
            <Pill key={type} size="xs">
              {type}
            </Pill>
          ))}
          {label.note !== null && (
            <Dimmed dir="auto" size="xs" className="break lines">
              {label.note}
            </Dimmed>
          )}
        </Group>
      ))}
    </section>
  );
}

export const verdictText = (verdict: Label['verdict'] | undefined): string =>
  verdict === 'pass' ? 'right' : verdict === 'fail' ? 'wrong' : 'no verdict';

function OwnLabel(props: Parameters<typeof LabelBar>[0] & { readonly own: Label | undefined }) {
  const { run, result, own, onNext } = props;
  // what was said last, also before the service has stored it
  const [said, setSaid] = useState<Said>(own ?? NOTHING);
  const { verdict, types } = said;
  const [note, setNote] = useState(said.note ?? '');
  const [goesOn, setGoesOn] = useLocalStorage({ key: 'svc-next-after-label', defaultValue: false });
  const known = useQuery(labelsQuery(run)).data?.types.map(({ type }) => type) ?? [];
  const change = useLabel(run, result);
  const say = (changes: Partial<Said>): void => {
    const next: Said = { verdict, types, note: note === '' ? null : note, ...changes };
    setSaid(next);
    change.mutate(next);
  };
  const toggle = (next: 'pass' | 'fail') => (): void => {
    say({ verdict: verdict === next ? null : next });
    if (goesOn && verdict !== next) onNext?.();
  };
  useHotkeys([
    ['1', toggle('pass')],
    ['0', toggle('fail')],
  ]);
  const choice = (of: 'pass' | 'fail', key: string, color: string) => (
    <SmallButton
      label={of === 'pass' ? 'Right' : 'Wrong'}
      size="compact-sm"
      color={color}
      variant={verdict === of ? 'filled' : 'default'}
      aria-pressed={verdict === of}
      rightSection={<Kbd size="xs">{key}</Kbd>}
      onClick={toggle(of)}
    />
  );
  return (
    <>
      <Group gap="xs">
        {choice('pass', '1', 'teal')}
        {choice('fail', '0', 'red')}
        <Button
          role="switch"
          aria-checked={goesOn}
          size="compact-xs"
          ms="auto"
          variant={goesOn ? 'light' : 'default'}
          // a checkbox would take the keys of labels
          onClick={() => setGoesOn(!goesOn)}
        >
          Next after a label
        </Button>
      </Group>
      <Group gap="xs" wrap="nowrap" align="flex-start" mt={6}>
        <TagsInput
          aria-label="Types of failure"
          placeholder={types.length === 0 ? 'Types of failure' : undefined}
          size="xs"
          flex="1 1 0"
          data={known}
          value={[...types]}
          maxTags={MAX_TYPES}
          onChange={(next) => say({ types: next })}
        />
        <Textarea
          aria-label="Note"
          placeholder="Note"
          size="xs"
          flex="1 1 0"
          dir="auto"
          autosize
          maxRows={3}
          maxLength={MAX_NOTE}
          value={note}
          onChange={({ currentTarget }) => setNote(currentTarget.value)}
          onBlur={() => {
            if (note !== (said.note ?? '')) say({});
          }}
        />
      </Group>
      {change.error !== null && <ErrorView error={change.error} />}
    </>
  );
}
function useLabel(run: Run, result: ListedResult) {
  const queries = useQueryClient();
  const notify = useNotify();
  const { section, order_index, repetition } = result;
  return useMutation({
    // one after the other, so that the last one stays
    scope: { id: 'label' },
    mutationFn: (said: Said) =>
      send(
        'put',
        '/runs/{id}/results/{section}/{order_index}/{repetition}/label',
        {
          path: { id: run.id, section, order_index: String(order_index), repetition: String(repetition) },
        },
        { ...said, types: [...said.types] },
      ),
    // the next result may be open by now
    onError: ({ message }) => notify(`A label was not stored. ${message}`),
    onSuccess: async (label) => {
      const changed = (one: ListedResult): ListedResult => {
        if (resultKey(one) !== resultKey(result)) return one;
        const others = one.labels.filter(({ by }) => by !== label.by);
        return { ...one, labels: label.updated_at === null ? others : [label, ...others] };
      };
      queries.setQueriesData<Window<ListedResult>>({ queryKey: ['results', run.id] }, (before) =>
        before === undefined ? before : { ...before, data: before.data.map(changed) },
      );
      queries.setQueriesData<ListedResult | null>({ queryKey: ['result', run.id] }, (before) =>
        before == null ? before : changed(before),
      );
      await queries.invalidateQueries({ queryKey: ['labels', run.id] });
    },
  });
}
