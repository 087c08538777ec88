import { expect } from 'chai';
import { JobOperations } from '../../../api/jobs/job-operations.ts';
import { asyncClient } from '../../support/async-fixture.ts';
import { installation } from '../../support/installation.ts';

const ASYNC = { PRESSROOM_ASYNC: 'on', PRESSROOM_SECRET: 'a secret of these tests' };

describe('the order of asynchronous renders', () => {
  it('is not lost when a render is tried again', async () => {
    const pressroom = await installation({ plan: 'starter', workers: 0, env: ASYNC });
    try {
      const client = asyncClient(pressroom.api.port(), pressroom.key);
      const { jobs } = pressroom.store.asynchronous;
      const operations = new JobOperations(pressroom.store);
      const { id: _id } = await client.submit({ html: 'first' });
      const { account } = (await jobs.findOne({ _id }))!;
      await operations.claim(account, 'first attempt');
      await operations.requeue({ _id, account, lease: 'first attempt' }, { delayMs: 1 });
      const availableAt = new Date(Date.now() - 15_000);
      await jobs.updateOne({ _id }, { $set: { availableAt } });
      await client.submit({ html: 'submitted after that' });
      const claimed = await operations.claim(account, 'second attempt');
      expect(claimed?._id).to.equal(_id);
    } finally {
      await pressroom.stop();
    }
  });
});
