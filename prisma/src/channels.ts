/**
 * Channels of notifications:
 *
 * - `svc_cancel`: a run or job is to be cancelled; the payload is its id
 * - `svc_task`: a task was put on a queue; the payload is the queue's name
 * - `svc_worker`: a worker reports what it does; the payload is a `WorkerReport` as JSON
 */
export type Channel = 'svc_cancel' | 'svc_task' | 'svc_worker';
