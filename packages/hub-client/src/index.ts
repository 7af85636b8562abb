export { HubError, type HubErrorCode, type HubErrorDetails, type HubErrorOptions } from './errors.ts';
