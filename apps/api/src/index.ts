export { replicaOptions } from './replica-options.ts';
export { type ApiDeps, type RunningApi, startApi } from './start-api.ts';
