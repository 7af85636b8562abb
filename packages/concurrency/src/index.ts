export {
  createYielder,
  forEachConcurrently,
  interruptible,
  mapOrdered,
  untilAborted,
} from './async-loops.ts';
export { type PermitRequest, Semaphore, type SemaphoreOptions } from './semaphore.ts';
export {
  createThreadPool,
  serveTasks,
  type TaskReply,
  type ThreadPool,
  type ThreadPoolOptions,
  type ThreadTasks,
} from './threads.ts';
