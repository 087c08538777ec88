import { expect } from 'chai';
import type { Job } from '../../../../api/queue/dispatcher.ts';
import { createRender, type RenderDeps } from '../../../../api/render/render.ts';
import { SlotLost } from '../../../../api/workers/slot-port.ts';
import type { RenderRequest } from '../../../../common/contract/render-request.ts';

/** Records the jobs and how they end. */
function recorded(end: 'not_static' | 'memory', rendererReuse = true) {
  const jobs: Job[] = [];
  const counted: string[] = [];
  const deps = {
    leases: {
      admit: async () => ({ accountId: 'a', rendererReuse, lost: new AbortController().signal }),
      release: async () => {},
    },
    trial: false,
    reuse: true,
    limits: { renderMs: 1_000 },
    dispatcher: {
      dispatch: async (job: Job) => {
        jobs.push(job);
        throw jobs.length === 1 ? new SlotLost(end, 'ended') : new Error('the second one');
      },
    },
    meters: {
      ended: () => {},
      rendersWarm: () => counted.push('warm'),
      rendersFresh: (reason: string) => counted.push(reason),
    },
  };
  const render = createRender(deps as unknown as RenderDeps<{ requestId: string }>);
  const error = render(
    { html: '<p>x' } as RenderRequest,
    { requestId: 'r' },
    { bodyBytes: 1, budget: {} as never },
    new AbortController().signal,
    { timings: {} } as never,
  ).catch((error: Error) => error);
  return { error, jobs, counted };
}

describe('a render in a warm page', () => {
  it('is repeated in a fresh page if its document was not static', async () => {
    const { error, jobs, counted } = recorded('not_static');
    expect(await error).to.have.property('message', 'the second one');
    expect(jobs.map(({ isolation }) => isolation)).to.deep.equal(['warm', undefined]);
    expect(counted).to.deep.equal(['not_static']);
  });

  it('is not repeated for another reason', async () => {
    const { error, jobs } = recorded('memory');
    expect(await error).to.have.property('reason', 'page_crash');
    expect(jobs).to.have.length(1);
  });

  it('is not asked for when the account excludes it', async () => {
    const { error, jobs, counted } = recorded('memory', false);
    await error;
    expect(jobs.map(({ isolation }) => isolation)).to.deep.equal([undefined]);
    expect(counted).to.deep.equal(['off']);
  });
});
