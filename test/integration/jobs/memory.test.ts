// @proves POST /v1/renders, overloaded
import { expect } from 'chai';
import { asyncClient } from '../../support/async-fixture.ts';
import { eventually } from '../../support/eventually.ts';
import { installation } from '../../support/installation.ts';

const FILLER = `<!-- ${'x'.repeat(2 ** 20)} -->`;
const ASYNC = { PRESSROOM_ASYNC: 'on', PRESSROOM_SECRET: 'a secret of these tests' };

describe('running asynchronous renders', () => {
  it('leave memory for a synchronous call of their account', async () => {
    const env = { ...ASYNC, PRESSROOM_BYTES_IN_FLIGHT: '12MiB', PRESSROOM_SLOTS: '4' };
    const pressroom = await installation({ plan: 'scale', env });
    try {
      const { submit, call, read } = asyncClient(pressroom.api.port(), pressroom.key);
      const long = { html: FILLER, wait_for_expression: 'false' };
      const ids: string[] = [];
      while (ids.length < 4) ids.push((await submit(long)).id);
      await eventually(async () => {
        const renders = await Promise.all(ids.map(read));
        // All had their turn: those without memory wait again.
        expect(renders.filter(({ started_at }) => started_at)).to.have.length(4);
        expect(renders.some(({ status }) => status === 'running')).to.equal(true);
      });
      expect((await pressroom.render({ html: FILLER })).status).to.equal(200);
      for (const id of ids) await call('DELETE', `/${id}`);
      // Half of the memory is not enough for it, so that it could never run.
      const large = { html: FILLER.repeat(2) };
      // The canceled renders stop, and free their memory, a moment later.
      await eventually(async () =>
        expect(await pressroom.metrics.text()).to.match(/^pressroom_in_flight_bytes 0$/m),
      );
      expect((await pressroom.render(large)).status).to.equal(200);
      expect((await call('POST', '', large)).error().code).to.equal('payload_too_large');
    } finally {
      await pressroom.stop();
    }
  });
});
