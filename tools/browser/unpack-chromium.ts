// Unpacks the browser of the npm package into TMPDIR, which find-chromium.ts sets.
import chromium from '@sparticuz/chromium';

await chromium.executablePath();
