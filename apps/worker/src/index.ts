export { type RunningWorker, startWorker, type WorkerDeps } from './start-worker.ts';
