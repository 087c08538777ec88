import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import {
  createTicketChecker,
  signTicket,
  TICKET_LIFE_MS,
  type Ticket,
} from '../../../common/ticket.ts';

const SECRET = 'the secret of the pool';
const NOW = 1_800_000_000_000;
const ticket = (changes: Partial<Ticket> = {}, secret = SECRET, now = NOW) =>
  signTicket(
    secret,
    { pool: 'p', purpose: 'slot', renderId: 'r', egress: 'public', maxMs: 1_000, ...changes },
    now,
  );

describe('a ticket', () => {
  it('is accepted with its signed content', () => {
    const checked = createTicketChecker(SECRET, 'p')(ticket(), 'slot', NOW);
    expect(checked.ok && checked.ticket).to.include({
      pool: 'p',
      purpose: 'slot',
      renderId: 'r',
      egress: 'public',
      maxMs: 1_000,
    });
  });

  it('does not contain the secret and fits into a URL', () => {
    expect(ticket()).to.match(/^[\w-]+\.[\w-]+$/);
    expect(Buffer.from(ticket().split('.')[0]!, 'base64url').toString()).to.not.include(SECRET);
  });

  const forged = (changes: object) => {
    const [payload, signature] = ticket().split('.');
    const changed = { ...JSON.parse(Buffer.from(payload!, 'base64url').toString()), ...changes };
    return `${Buffer.from(JSON.stringify(changed)).toString('base64url')}.${signature}`;
  };
  const signed = (text: string) => {
    const payload = Buffer.from(text).toString('base64url');
    return `${payload}.${createHmac('sha256', SECRET).update(payload).digest('base64url')}`;
  };
  const rejected: [string, string, string, number?][] = [
    ['a signed text that is not JSON', signed('{"pool":"p"'), 'malformed'],
    ['a signed null', signed('null'), 'malformed'],
    ['a signed list', signed('[]'), 'malformed'],
    ['nothing', '', 'malformed'],
    ['one part', 'abc', 'malformed'],
    ['three parts', `${ticket()}.x`, 'malformed'],
    ['a long text', `${'a'.repeat(3_000)}.b`, 'malformed'],
    ['another secret', ticket({}, 'another secret of a pool'), 'signature'],
    ['no signature', `${ticket().split('.')[0]}.AAAA`, 'signature'],
    ['a changed policy', forged({ egress: 'intranet' }), 'signature'],
    ['a changed time', forged({ notAfterMs: NOW * 2 }), 'signature'],
    ['another pool', ticket({ pool: 'q' }), 'pool'],
    ['another purpose', ticket({ purpose: 'status' }), 'purpose'],
    ['an old one', ticket(), 'expired', NOW + TICKET_LIFE_MS + 1],
    ['one from a clock far ahead', ticket({}, SECRET, NOW + 2 * TICKET_LIFE_MS), 'expired'],
  ];
  for (const [what, text, reason, now = NOW] of rejected)
    it(`is rejected as ${reason} for ${what}`, () => {
      expect(createTicketChecker(SECRET, 'p')(text, 'slot', now)).to.deep.equal({
        ok: false,
        reason,
      });
    });

  it('can be used once', () => {
    const check = createTicketChecker(SECRET, 'p');
    const text = ticket();
    expect(check(text, 'slot', NOW).ok).to.equal(true);
    expect(check(text, 'slot', NOW)).to.deep.equal({ ok: false, reason: 'used' });
    expect(check(ticket(), 'slot', NOW).ok).to.equal(true);
  });
});
