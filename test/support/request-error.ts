// What the contract says to a body that it refuses. The tests of bad requests share it.
import { expect } from 'chai';
import { ApiError } from '../../common/contract/errors.ts';
import { parseRenderRequest } from '../../common/contract/render-request.ts';

export const PUBLIC = { ports: [80, 443, 8080, 8443], intranet: false, allowPorts: [] };

/** The error for a body; fails the test when the body is accepted. */
export function requestError(body: unknown, rules = PUBLIC): ApiError {
  try {
    parseRenderRequest(body, rules);
  } catch (error) {
    expect(error).to.be.instanceOf(ApiError);
    return error as ApiError;
  }
  throw new Error('the request was accepted');
}

/** A value as a test's title shows it. */
export const shown = (value: unknown) => String(JSON.stringify(value)).slice(0, 60);
