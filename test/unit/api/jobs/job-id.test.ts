import { expect } from 'chai';
import { createJobId, isJobId } from '../../../../api/jobs/job-id.ts';

describe('the IDs of asynchronous renders', () => {
  it('are different and sort by time', async () => {
    const first = createJobId();
    await new Promise(resolve => setTimeout(resolve, 2));
    const second = createJobId();
    expect(second > first).to.equal(true);
    expect(new Set(Array.from({ length: 1_000 }, createJobId)).size).to.equal(1_000);
  });

  it('have one shape', () => {
    expect(isJobId(createJobId())).to.equal(true);
    for (const text of ['', 'rnd_', `rnd_${'g'.repeat(32)}`, `x${createJobId()}`])
      expect(isJobId(text)).to.equal(false);
  });
});
