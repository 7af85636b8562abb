import { Button, Group, Modal, type ModalProps, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import { useBlocker, useNavigate } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useEffect, useRef } from 'react';
import { send } from '../../api/api.ts';
import { useNotify } from '../layout/notices.tsx';
import { ErrorView } from '../query-state.tsx';
import { Dimmed } from '../text/dimmed.ts';
import { Fields } from './fields.tsx';

interface FormBodyProps {
  readonly action: string;
  readonly isDangerous?: boolean;
  readonly isReady?: boolean;
  readonly submit: () => Promise<unknown>;
  readonly onClose: () => void;
  readonly showError?: (error: Error) => ReactNode;
  readonly children: ReactNode;
}

/** Fields that do one thing and close. An error stays with them. */
export function FormBody({
  action,
  isDangerous = false,
  isReady = true,
  submit,
  onClose,
  showError = (error) => <ErrorView error={error} />,
  children,
}: FormBodyProps) {
  const { mutate, isPending, error } = useMutation({ mutationFn: submit, onSuccess: onClose });
  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (isReady) mutate();
  };
  return (
    <form onSubmit={send}>
      <Stack gap="sm">
        {children}
        {error !== null && showError(error)}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button
            type="submit"
            disabled={!isReady}
            loading={isPending}
            {...(isDangerous && { color: 'red.9' })}
          >
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

export function FormDialog(props: FormBodyProps & { readonly title: string } & Pick<ModalProps, 'size'>) {
  const { title, size, ...body } = props;
  return (
    <Modal opened onClose={body.onClose} title={title} size={size ?? 'md'}>
      <FormBody {...body} />
    </Modal>
  );
}

/** Saves something, refreshes the queries that show it, and tells the user. */
export function useSaved(...shownBy: readonly QueryKey[]): (saving: Promise<unknown>) => Promise<void> {
  const queries = useQueryClient();
  const notify = useNotify();
  return async (saving) => {
    await saving;
    await Promise.all(shownBy.map((queryKey) => queries.invalidateQueries({ queryKey })));
    notify('Saved.');
  };
}

/** Asks before something is left that would be lost: by a link, the buttons of the browser, or a closed window. */
export function LeaveDialog({
  title = 'Leave what you typed?',
  action = 'Discard it and leave',
  text,
  parameters,
  onLeave,
}: {
  readonly title?: string;
  readonly action?: string;
  readonly text: string;
  /** Those of the address that lead to something else on the same page; by default all. */
  readonly parameters?: readonly string[];
  readonly onLeave: () => void;
}) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) =>
      current.pathname !== next.pathname ||
      (parameters?.some((name) => Reflect.get(current.search, name) !== Reflect.get(next.search, name)) ??
        true),
    enableBeforeUnload: true,
    withResolver: true,
  });
  if (status !== 'blocked') return null;
  const leave = async (): Promise<void> => {
    onLeave();
    proceed();
  };
  return (
    <FormDialog title={title} action={action} submit={leave} onClose={reset}>
      <Text size="sm">{text}</Text>
    </FormDialog>
  );
}

/** Asks for a name before something is deleted permanently, and then shows the list that it was in. */
export function DeleteDialog(props: {
  readonly what: 'dataset' | 'run';
  readonly id: string;
  readonly name: string;
  readonly warning: string;
  readonly onClose: () => void;
}) {
  const { what, id, name, warning, onClose } = props;
  const queries = useQueryClient();
  const navigate = useNavigate();
  const notify = useNotify();
  const form = useForm({ initialValues: { typed: '' } });
  const submit = async (): Promise<void> => {
    await send('delete', `/${what}s/{id}`, { path: { id } });
    notify(`Deleted ${name}.`);
    await navigate({ to: `/${what}s` });
    queries.removeQueries({ queryKey: [what, id] });
    await queries.invalidateQueries({ queryKey: [`${what}s`] });
  };
  return (
    <FormDialog
      title={`Delete the ${what}`}
      action="Delete for good"
      isDangerous
      isReady={form.values.typed === name}
      submit={submit}
      onClose={onClose}
    >
      <Text size="sm">{warning} It cannot be undone.</Text>
      <Fields
        form={form}
        fields={[{ name: 'typed', label: 'Type the name to confirm', description: name, isFirst: true }]}
      />
    </FormDialog>
  );
}

/** The buttons of a long form, which stay at the bottom of the window, and what is missing before they can be pressed. */
export function ActionBar(props: { readonly missing: string | null; readonly children: ReactNode }) {
  const { missing, children } = props;
  return (
    <Group className="action-bar" gap="sm">
      {children}
      {missing !== null && <Dimmed flex="1 1 160px">{missing}</Dimmed>}
    </Group>
  );
}

/** What an action leads to, below its button: scrolled into the window when it appears, changes or grows. */
export function InView({ state, children }: { readonly state: string; readonly children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each state is shown
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    let height = 0;
    const observer = new ResizeObserver(() => {
      if (element.offsetHeight > height) element.scrollIntoView({ block: 'nearest' });
      height = element.offsetHeight;
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [state]);
  return <div ref={box}>{children}</div>;
}
