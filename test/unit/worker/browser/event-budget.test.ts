import { expect } from 'chai';
import { createEventBudget } from '../../../../worker/browser/event-budget.ts';

describe('the event budget of a page', () => {
  const burst = (
    spend: (bytes: number, nowMs: number) => number,
    events: number,
    bytes = 300,
    nowMs = 0,
  ) => Math.max(...Array.from({ length: events }, () => spend(bytes, nowMs)));

  it('allows the burst of a document with thousands of inline images', () => {
    expect(burst(createEventBudget(0).spend, 15_000)).to.equal(0);
  });

  it('requires a pause beyond the burst, as long as the excess takes at 5,000 events per second', () => {
    const { spend } = createEventBudget(0);
    expect(burst(spend, 21_000)).to.equal(200);
    expect(spend(300, 1_000)).to.equal(0);
    expect(burst(spend, 5_000, 300, 1_000)).to.be.greaterThan(0);
  });

  it('requires a pause beyond 64 MiB', () => {
    const { spend } = createEventBudget(0);
    expect(burst(spend, 32, 2 * 2 ** 20)).to.equal(0);
    expect(spend(2 * 2 ** 20, 0)).to.equal(250);
  });

  it('never accumulates more than one burst', () => {
    const { spend } = createEventBudget(0);
    expect(spend(1, 1e9)).to.equal(0);
    expect(burst(spend, 20_100, 1, 1e9)).to.be.greaterThan(0);
  });
});
