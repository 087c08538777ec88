import { expect } from 'chai';
import { createChance } from '../../fault/harness/random.ts';
import { TRACE_DOCUMENTS } from '../../support/pages/trace-documents.ts';
import { renderStatic, warmRenders, withoutDates } from '../../support/warm-renders.ts';
import { startWorker, type TestWorker } from '../../support/worker.ts';

/** PRESSROOM_FUZZ_PAIRS sets more. */
const PAIRS = Number(process.env.PRESSROOM_FUZZ_PAIRS ?? 150);

describe('documents in a warm page', function () {
  this.timeout(300_000);
  let worker: TestWorker;
  const expected: string[] = [];

  before(async () => {
    worker = await startWorker({ PRESSROOM_SLOTS: '1' });
    for (const html of TRACE_DOCUMENTS) {
      await worker.until({ ready: 1 });
      expected.push(withoutDates(await renderStatic(worker, html, { isolation: 'fresh' })));
    }
  });
  after(() => worker.stop());

  const check = async (at: number, before: number) => {
    await worker.until({ ready: 1 });
    const pdf = withoutDates(await renderStatic(worker, TRACE_DOCUMENTS[at]!));
    if (pdf !== expected[at])
      throw new Error(
        `After ${TRACE_DOCUMENTS[before]} this prints differently: ${TRACE_DOCUMENTS[at]}`,
      );
  };

  it(`print as in a fresh page, after each other in ${PAIRS} pairs of both orders`, async () => {
    const chance = createChance(33);
    const pick = () => chance.int(0, TRACE_DOCUMENTS.length - 1);
    const warmBefore = await warmRenders(worker);
    let last = 0;
    for (let pair = 0; pair < PAIRS; pair++) {
      const [first, second] = [pick(), pick()];
      for (const next of [first, second, first]) {
        await check(next, last);
        last = next;
      }
    }
    // A page is replaced after 50 renders.
    expect((await warmRenders(worker)) - warmBefore).to.be.greaterThan(0.97 * 3 * PAIRS);
  });

  it('differ from each other, so that a trace would show', () => {
    expect(new Set(expected).size).to.be.greaterThan(0.6 * TRACE_DOCUMENTS.length);
  });
});
