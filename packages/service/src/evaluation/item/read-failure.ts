import { getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';

/** Error codes that providers document, and the status that each of them comes with. */
const KNOWN_ERROR_CODES: ReadonlyMap<string, number> = new Map([
  ['account_deactivated', 401],
  ['api_error', 500],
  ['authentication_error', 401],
  ['billing_hard_limit_reached', 402],
  ['billing_not_active', 402],
  ['content_filter', 400],
  ['content_policy_violation', 400],
  ['context_length_exceeded', 400],
  ['insufficient_quota', 402],
  ['invalid_api_key', 401],
  ['invalid_request_error', 400],
  ['invalid_value', 400],
  ['model_not_found', 404],
  ['not_found_error', 404],
  ['overloaded_error', 529],
  ['permission_error', 403],
  ['rate_limit_error', 429],
  ['rate_limit_exceeded', 429],
  ['request_too_large', 413],
  ['server_error', 500],
  ['string_above_max_length', 400],
  ['timeout_error', 504],
  ['unsupported_parameter', 400],
  ['unsupported_value', 400],
]);

const STATUS_MEMBERS = ['code', 'status', 'status_code', 'http_status'];

/**
 * The error in the body of a response: an `error` member of the body or of its first choice, a body that says that it is
 * an error, a choice that ended with one, or no choice at all because of a content filter.
 */
export function failureOf(body: JsonObject): ReturnType<typeof describe> | null {
  const choices = getMember(body, 'choices');
  const first = Array.isArray(choices) ? choices[0] : undefined;
  const choice = isJsonObject(first) ? first : {};
  const ofBody = getMember(body, 'error') ?? null;
  if (isFilled(ofBody)) return describe(ofBody);
  const ofChoice = getMember(choice, 'error') ?? null;
  if (isFilled(ofChoice)) return { ...describe(ofChoice), ofChoice };
  const [type, code] = [getMember(body, 'type'), getMember(body, 'code')];
  const isKnown = [type, code].some((name) => typeof name === 'string' && KNOWN_ERROR_CODES.has(name));
  if (isKnown || type === 'error' || getMember(body, 'object') === 'error') return describe(body);
  const reasons = [getMember(choice, 'finish_reason'), getMember(body, 'stop_reason')];
  const isResponse = getMember(body, 'object') === 'response';
  if (reasons.includes('error') || (isResponse && getMember(body, 'status') === 'failed')) {
    return describe(null);
  }
  const isFiltered =
    Array.isArray(choices) && !isJsonObject(getMember(choice, 'message')) && namesFilter(body);
  if (isFiltered) return describe('content_filter');
  // An empty error takes the place of an answer.
  return isAnswer(body) || ofBody === null ? null : describe(ofBody);
}

function isAnswer(body: JsonObject): boolean {
  return Array.isArray(getMember(body, 'choices')) || Array.isArray(getMember(body, 'content'));
}

/** Some servers always send the member, with nothing in it. */
function isFilled(error: JsonValue): boolean {
  if (Array.isArray(error)) return error.length > 0;
  if (isJsonObject(error)) return Object.keys(error).length > 0;
  return Boolean(error);
}

/**
 * What an error states: its status, 400 to 599, and its code, if it is a documented one; null for neither. `ofChoice` is the
 * error itself, if the first choice has it.
 */
function describe(error: JsonValue) {
  const members = isJsonObject(error) ? error : { code: error };
  const names = [getMember(members, 'code'), getMember(members, 'type')];
  const code =
    names.find((name): name is string => typeof name === 'string' && KNOWN_ERROR_CODES.has(name)) ?? null;
  const stated = STATUS_MEMBERS.map((name) => statusOf(getMember(members, name))).find(
    (status) => status !== null,
  );
  const named = code === null ? null : (KNOWN_ERROR_CODES.get(code) ?? null);
  return { statusCode: stated ?? named, code, ofChoice: null as JsonValue };
}

function statusOf(value: JsonValue | undefined): number | null {
  const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value;
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599
    ? status
    : null;
}

/** Whether a value has a member, or a text, with the name of the content filter. */
function namesFilter(value: JsonValue): boolean {
  if (typeof value === 'string') return value === 'content_filter';
  if (Array.isArray(value)) return value.some(namesFilter);
  if (!isJsonObject(value)) return false;
  return Object.entries(value).some(
    ([name, member]) => name === 'content_filter' || name === 'content_filter_results' || namesFilter(member),
  );
}
