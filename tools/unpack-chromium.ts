// Unpacks the browser of the npm package into the folder for temporary files; find-chromium.ts says which that is.
import chromium from '@sparticuz/chromium';

await chromium.executablePath();
