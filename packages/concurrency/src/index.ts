export { createYielder, forEachConcurrently, interruptible, mapOrdered } from './async-loops.ts';
export { lowerThreadPriority } from './lower-priority.ts';
export { type PermitRequest, Semaphore, type SemaphoreOptions } from './semaphore.ts';
export { serveTasks, type TaskReply, type ThreadTasks } from './task-thread.ts';
export { createThreadPool, type ThreadPool, type ThreadPoolOptions } from './thread-pool.ts';
export { untilAborted } from './until-aborted.ts';
