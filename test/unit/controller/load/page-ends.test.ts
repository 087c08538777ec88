import { expect } from 'chai';
import { queriesFor } from '../../../../controller/load/load-queries.ts';
import { PAGE_END_REASONS, pageEndsNote } from '../../../../controller/load/page-ends.ts';

describe('the Event about pages that hit bounds', () => {
  it('counts them by bound, in whole renders', () => {
    expect(
      pageEndsNote(
        new Map([
          ['flooded', 1.2],
          ['memory', 2.9],
        ]),
      ),
    ).to.equal(
      'Pages that hit a bound in the last 5 minutes: 3 used more memory than PRESSROOM_RENDER_MEMORY (memory), ' +
        '1 sent more than Chrome or the connection to the API takes (flooded). Their renders ended; the log of the workers names each.',
    );
  });

  it('is not written when no page did, or for ends that no page causes', () => {
    for (const ends of [
      [],
      [['memory', 0.2]],
      [
        ['chrome_died', 5],
        ['worker_stopping', 2],
      ],
    ] as [string, number][][])
      expect(pageEndsNote(new Map(ends))).to.equal(undefined);
  });

  it('asks Prometheus for the ends that a page causes', () => {
    expect(PAGE_END_REASONS).to.deep.equal(['memory', 'flooded', 'renderer_crashed', 'deadline']);
    expect(queriesFor([]).facts).to.include(
      'pressroom_slot_ends_total{reason=~"memory|flooded|renderer_crashed|deadline"',
    );
  });
});
