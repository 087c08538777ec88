import { expect } from 'chai';
import { formatRelative } from '../../../../dashboard/parts/format.ts';

describe('relative times of the dashboard', () => {
  const NOW = Date.parse('2026-03-01T12:00:00Z');
  const [SECOND, MINUTE, HOUR, DAY] = [1e3, 60e3, 3600e3, 86400e3];
  const relative = (ms: number) => formatRelative(new Date(NOW + ms), NOW);

  for (const [ms, text] of [
    [0, 'just now'],
    [-9 * SECOND, 'just now'],
    [-59 * SECOND, '59 seconds ago'],
    [MINUTE, 'in 1 minute'],
    [HOUR - MINUTE, 'in 59 minutes'],
    [-1.4 * HOUR, '1 hour ago'],
    [23 * HOUR, 'in 23 hours'],
    [-3 * DAY, '3 days ago'],
  ] as const)
    it(`are "${text}"`, () => expect(relative(ms)).to.equal(text));

  for (const [ms, text] of [
    [HOUR - SECOND, 'in 1 hour'],
    [-(DAY - MINUTE), '1 day ago'],
    [7 * DAY - HOUR, 'in 1 week'],
    [-(365 * DAY - HOUR), '1 year ago'],
  ] as const)
    it(`round to the next unit: "${text}"`, () => expect(relative(ms)).to.equal(text));
});
