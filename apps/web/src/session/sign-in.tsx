import { Button, Center, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';
import { ErrorView } from '../ui/error-view.tsx';
import { sessionKey } from './session-key.ts';

/** Exchanges a key for a session. The key is forgotten as soon as it was sent. */
export function SignIn() {
  const api = useApi();
  const queries = useQueryClient();
  const [key, setKey] = useState('');
  const signIn = useMutation({
    mutationFn: () => dataOf(api.POST('/session', { body: { key } })),
    onSuccess: async () => {
      setKey('');
      await queries.resetQueries({ queryKey: sessionKey });
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    signIn.mutate();
  };
  return (
    <Center component="main" mih="100dvh" p="md">
      <Paper withBorder p="xl" w={380} maw="100%" component="form" onSubmit={submit}>
        <Stack>
          <Title order={1} size="h3">
            Sign in to svc
          </Title>
          <Text size="sm" c="dimmed">
            Enter one of the keys of this service. The browser keeps a session for 12 hours, not the key.
          </Text>
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
          {signIn.error !== null && <ErrorView error={signIn.error} />}
        </Stack>
      </Paper>
    </Center>
  );
}
