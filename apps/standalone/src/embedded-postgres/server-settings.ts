/**
 * Settings of the embedded server, which serves one service on one machine.
 * @see https://www.postgresql.org/docs/18/runtime-config.html
 */
export const SERVER_SETTINGS: Readonly<Record<string, string>> = {
  max_connections: '100',
  shared_buffers: '256MB',
  // an import writes gigabytes in one go: fewer checkpoints, fewer full pages in the log
  max_wal_size: '2GB',
  min_wal_size: '128MB',
  checkpoint_timeout: '15min',
  wal_compression: 'on',
  // nothing replicates from it
  wal_level: 'minimal',
  max_wal_senders: '0',
  // compiling a plan takes longer than the statements of the service
  jit: 'off',
  // /dev/shm of a container is often 64 MB
  enable_parallel_hash: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // rows and statements contain prompts and answers, which the log must not show
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
};
