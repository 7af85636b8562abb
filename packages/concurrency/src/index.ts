export { createYielder } from './create-yielder.ts';
export { forEachConcurrently } from './for-each-concurrently.ts';
export { lowerThreadPriority } from './lower-priority.ts';
export { mapOrdered } from './map-ordered.ts';
export { type PermitRequest, Semaphore, type SemaphoreOptions } from './semaphore.ts';
export { serveTasks, type TaskReply, type ThreadTasks } from './task-thread.ts';
export { createThreadPool, type ThreadPool, type ThreadPoolOptions } from './thread-pool.ts';
