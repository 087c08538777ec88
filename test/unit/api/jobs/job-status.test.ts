import { expect } from 'chai';
import { FINAL_STATUSES, isFinalStatus, statusesBefore } from '../../../../api/jobs/job-status.ts';

describe('the statuses of an asynchronous render', () => {
  it('end in one of four ways', () => {
    expect(FINAL_STATUSES).to.have.members(['succeeded', 'failed', 'canceled', 'expired']);
    expect(isFinalStatus('queued')).to.equal(false);
    expect(isFinalStatus('running')).to.equal(false);
  });

  it('change only as the table allows', () => {
    expect(statusesBefore('running')).to.deep.equal(['queued']);
    expect(statusesBefore('queued')).to.deep.equal(['running']);
    expect(statusesBefore('succeeded')).to.deep.equal(['running']);
    expect(statusesBefore('failed')).to.deep.equal(['running']);
    expect(statusesBefore('canceled')).to.deep.equal(['queued', 'running']);
    expect(statusesBefore('expired')).to.deep.equal(['queued', 'running']);
  });
});
