export { type ApiDeps, type RunningApi, startApi } from './start-api.ts';
