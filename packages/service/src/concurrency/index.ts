export {
  createYielder,
  forEachConcurrently,
  interruptible,
  mapOrdered,
  untilAborted,
} from './async-loops.ts';
export { Semaphore } from './semaphore.ts';
export {
  createThreadPool,
  serveTasks,
  type TaskReply,
  type ThreadPool,
  type ThreadPoolOptions,
  type ThreadTasks,
} from './threads.ts';
