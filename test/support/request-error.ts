// The validation error of a render request, for tests of invalid requests.
import { expect } from 'chai';
import { ApiError } from '../../common/contract/errors.ts';
import { parseRenderRequest } from '../../common/contract/render-request.ts';

export const PUBLIC = {
  ports: [80, 443, 8080, 8443],
  intranet: false,
  allowPorts: [],
  maxTimeoutMs: 60_000,
};

/** Returns the error for a body. Throws when the body is valid. */
export function requestError(body: unknown, rules = PUBLIC): ApiError {
  try {
    parseRenderRequest(body, rules);
  } catch (error) {
    expect(error).to.be.instanceOf(ApiError);
    return error as ApiError;
  }
  throw new Error('the request was accepted');
}

/** A value as shown in a test title. */
export const shown = (value: unknown) => String(JSON.stringify(value)).slice(0, 60);
