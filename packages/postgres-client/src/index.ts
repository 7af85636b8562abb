export {
  type ConnectionConfig,
  type ConnectionOptions,
  connectionConfig,
  createClient,
} from './connection-config.ts';
