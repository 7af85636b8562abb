const RETRY_MS = 2000;

export async function serviceResponds(): Promise<boolean> {
  return await fetch('/healthz').then(
    ({ ok }) => ok,
    () => false,
  );
}

/** Loads a part of the console. Where the service does not respond, loads it again as soon as it does. */
export function loadedAgain<Module>(load: () => Promise<Module>): () => Promise<Module> {
  return async () => {
    try {
      return await load();
    } catch {
      while (!(await serviceResponds())) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      return await load();
    }
  };
}
