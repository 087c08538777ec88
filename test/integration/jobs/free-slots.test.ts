import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { asyncClient } from '../../support/async-fixture.ts';
import { installation } from '../../support/installation.ts';

const ASYNC = { PRESSROOM_ASYNC: 'on', PRESSROOM_SECRET: 'a secret of these tests' };

describe('the slots for asynchronous renders', function () {
  this.timeout(30_000);

  it('are not exceeded while large requests are read', async () => {
    const pressroom = await installation({ env: ASYNC });
    try {
      const client = asyncClient(pressroom.api.port(), pressroom.key);
      const large = { html: `x<!--${'x'.repeat(5e6)}-->`, wait_delay: '2s' };
      const submitted = await Promise.all(Array.from({ length: 6 }, () => client.submit(large)));
      let most = 0;
      for (let nth = 0; nth < 20; nth++) {
        const { jobs } = pressroom.store.asynchronous;
        most = Math.max(most, await jobs.countDocuments({ status: 'running' }));
        await sleep(100);
      }
      for (const { id } of submitted) await client.call('DELETE', `/${id}`);
      expect(most).to.equal(2);
    } finally {
      await pressroom.stop();
    }
  });
});
