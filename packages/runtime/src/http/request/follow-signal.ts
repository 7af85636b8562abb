/**
 * Makes a controller that aborts when `signal` does, with its reason, or by itself. Both must live equally long: unlike
 * `AbortSignal.any`, which takes several times as long, the signal holds the controller.
 */
export function followSignal(signal: AbortSignal): AbortController {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return controller;
}
