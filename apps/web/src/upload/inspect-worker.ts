import { inspectFile } from './inspect-file.ts';

// A worker of the upload page: it opens a file before anything is sent, away from the thread that draws the page.
self.addEventListener('message', async ({ data }: MessageEvent<File>) => {
  for await (const inspection of inspectFile(data)) self.postMessage(inspection);
});
