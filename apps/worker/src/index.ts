export { startWorker, type WorkerDeps } from './start-worker.ts';
