import { expect } from 'chai';
import { queriesFor } from '../../../../controller/load/load-queries.ts';
import { PAGE_END_REASONS, pageEndsNote } from '../../../../controller/load/page-ends.ts';

describe('Event about pages that hit limits', () => {
  it('counts renders by limit', () => {
    expect(
      pageEndsNote(
        new Map([
          ['flooded', 1.2],
          ['memory', 2.9],
        ]),
      ),
    ).to.equal(
      'Pages that hit a limit in the last 5 minutes: 3 exceeded PRESSROOM_RENDER_MEMORY (memory), ' +
        '1 sent more messages than Chrome or the connection to the API can process (flooded). Their renders failed. For each render, see the worker logs.',
    );
  });

  it('is not written without such pages, or for slot ends that no page causes', () => {
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

  it('queries only the slot ends that a page causes', () => {
    expect(PAGE_END_REASONS).to.deep.equal(['memory', 'flooded', 'renderer_crashed', 'deadline']);
    expect(queriesFor([]).facts).to.include(
      'pressroom_slot_ends_total{reason=~"memory|flooded|renderer_crashed|deadline"',
    );
  });
});
