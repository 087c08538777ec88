import { expect } from 'chai';
import { asyncClient } from '../../support/async-fixture.ts';
import { eventually } from '../../support/eventually.ts';
import { installation } from '../../support/installation.ts';

const ASYNC = { PRESSROOM_ASYNC: 'on', PRESSROOM_SECRET: 'a secret of these tests' };
const LONG = { html: 'long', wait_for_expression: 'false', timeout: '60s' };

describe('a shutdown with asynchronous renders', function () {
  this.timeout(40_000);

  it('answers long polls, and lets running renders wait again', async () => {
    const pressroom = await installation({ env: ASYNC });
    const other = await installation({ uri: pressroom.uri, workers: 0 });
    try {
      const client = asyncClient(pressroom.api.port(), pressroom.key);
      const { id } = await client.submit(LONG);
      await eventually(async () => expect((await client.read(id)).status).to.equal('running'));
      const poll = client.call('GET', `/${id}?wait=60s`);
      await new Promise(resolve => setTimeout(resolve, 300));
      const stopped = pressroom.stop();
      expect((await poll).status).to.equal(200);
      await stopped;
      const job = await other.store.asynchronous.jobs.findOne({ _id: id });
      expect(job).to.include({ status: 'queued' });
      expect(job!.attemptLog).to.deep.equal([]);
    } finally {
      await other.stop();
    }
  });
});
