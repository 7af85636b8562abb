/** The version in package.json, which `npm run version:packages` writes here too. */
export const VERSION = '0.1.0';
