import { expect } from 'chai';
import { overShare } from '../../../../api/accounts/account-errors.ts';
import { AttemptStopped, afterFailure, MAX_ATTEMPTS } from '../../../../api/jobs/job-attempt.ts';
import { DatabaseTimeout } from '../../../../api/store/store.ts';
import { ApiError, invalid, renderFailed } from '../../../../common/contract/errors.ts';

describe('what follows a failed attempt of an asynchronous render', () => {
  const lost = { code: 'render_failed', reason: 'worker_lost' };
  const internal = { code: 'render_failed', reason: 'internal' };
  const busy = { retry: { delayMs: 1_000, uncounted: true } };

  it('retries what other renders caused, without counting the attempt', () => {
    for (const reason of ['no_worker', 'queue_full', 'overloaded', 'database'] as const)
      expect(afterFailure(renderFailed(reason, 'busy'), MAX_ATTEMPTS, false)).to.deep.equal(busy);
    expect(afterFailure(overShare(2), MAX_ATTEMPTS, false)).to.deep.equal(busy);
    expect(afterFailure(new DatabaseTimeout(5), MAX_ATTEMPTS, true)).to.deep.equal(busy);
  });

  it('counts a rendered page whose PDF exceeds the memory of the account', () => {
    for (const error of [renderFailed('overloaded', 'memory'), overShare(2)]) {
      const { code, reason } = error;
      expect(afterFailure(error, 1, true)).to.deep.equal({
        retry: { delayMs: 2_000, error: { code, ...(reason && { reason }) } },
      });
      expect(afterFailure(error, MAX_ATTEMPTS, true)).to.deep.equal({ failed: error });
    }
  });

  it('retries at once what was stopped from outside', () => {
    expect(afterFailure(new AttemptStopped(), MAX_ATTEMPTS, true)).to.deep.equal({
      retry: { uncounted: true },
    });
  });

  it('retries lost workers and internal errors until the last attempt', () => {
    for (const [thrown, error] of [
      [renderFailed('worker_lost', 'lost'), lost],
      [new Error('unexpected'), internal],
    ]) {
      expect(afterFailure(thrown, 1, true)).to.deep.equal({ retry: { delayMs: 2_000, error } });
      expect(afterFailure(thrown, 2, true)).to.deep.equal({ retry: { delayMs: 4_000, error } });
      expect(afterFailure(thrown, MAX_ATTEMPTS, true))
        .to.have.property('failed')
        .instanceOf(ApiError);
    }
  });

  it('does not retry what the page or the request causes', () => {
    const errors = [
      renderFailed('page_timeout', 'late'),
      renderFailed('page_crash', 'crash'),
      renderFailed('output_limit', 'large'),
      invalid('wrong'),
      new ApiError('ssrf_blocked', 'blocked'),
    ];
    for (const error of errors)
      expect(afterFailure(error, 1, true)).to.deep.equal({ failed: error });
  });
});
