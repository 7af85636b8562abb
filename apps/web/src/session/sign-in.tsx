import { Button, Center, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useEffect, useState } from 'react';
import { useApi } from '../api/api-context.tsx';
import { dataOf, isRefusal } from '../api/api-problem.ts';
import { consoleName } from '../brand.ts';
import { ErrorView } from '../ui/error-view.tsx';
import { Dimmed } from '../ui/text/dimmed.ts';
import { sessionKey } from './session-key.ts';

/** The page that people without a session see. */
export function SignInPage() {
  useEffect(() => {
    document.title = `Sign in · ${consoleName()}`;
  }, []);
  return (
    <Center component="main" mih="100dvh" p="md">
      <Paper withBorder p="xl" w={380} maw="100%">
        <Title order={1} size="h3" mb="sm">
          Sign in to {consoleName()}
        </Title>
        <SignInForm />
      </Paper>
    </Center>
  );
}

/** Exchanges a key for a session. The key is forgotten as soon as it was sent. */
export function SignInForm() {
  const api = useApi();
  const queries = useQueryClient();
  const [key, setKey] = useState('');
  const signIn = useMutation({
    mutationKey: sessionKey,
    mutationFn: () => dataOf(api.POST('/session', { body: { key } })),
    onSuccess: async () => {
      setKey('');
      await queries.refetchQueries({ queryKey: sessionKey });
      await queries.invalidateQueries();
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    signIn.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <Dimmed>
          Enter one of the keys of this service. The browser keeps a session for 12 hours, not the key.
        </Dimmed>
        <PasswordInput
          label="Key"
          autoComplete="current-password"
          value={key}
          onChange={(event) => setKey(event.currentTarget.value)}
          data-autofocus
          autoFocus
          required
        />
        <Button type="submit" loading={signIn.isPending} disabled={key === ''}>
          Sign in
        </Button>
        {signIn.error !== null &&
          (isRefusal(signIn.error, 401) ? (
            <Text size="sm" c="var(--mantine-color-error)" role="alert">
              This key is not known.
            </Text>
          ) : (
            <ErrorView error={signIn.error} />
          ))}
      </Stack>
    </form>
  );
}
