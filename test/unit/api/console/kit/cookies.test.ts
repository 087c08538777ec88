import { expect } from 'chai';
import { createCookies } from '../../../../../api/console/kit/cookies.ts';
import { otherHost } from '../../../../../api/console/pages/other-host.ts';
import type { Context } from '../../../../../api/http/state.ts';

const SAFARI =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15';
const CHROME =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36';

function request(headers: Record<string, string>) {
  const set: string[] = [];
  const ctx = {
    get: (name: string) => headers[name] ?? '',
    append: (_name: string, value: string) => set.push(value),
  };
  return { ctx: ctx as unknown as Context, set };
}

describe('the cookies of the dashboard', () => {
  const written = (publicUrl: string, userAgent: string) => {
    const { ctx, set } = request({ 'User-Agent': userAgent });
    createCookies(publicUrl).setSession(ctx, 'T', 60_000);
    return set[0];
  };
  const HOST = '__Host-pressroom-session=T; Path=/; HttpOnly; SameSite=Lax; Max-Age=60; Secure';
  const PLAIN = 'pressroom-session=T; Path=/; HttpOnly; SameSite=Lax; Max-Age=60';

  for (const [publicUrl, userAgent, cookie] of [
    ['https://press.example', CHROME, HOST],
    ['https://press.example', SAFARI, HOST],
    ['https://localhost:8443', SAFARI, HOST],
    ['http://localhost:8080', CHROME, HOST],
    ['http://localhost:8080', '', HOST],
    ['http://localhost:8080', SAFARI, PLAIN],
    ['http://press.example', CHROME, PLAIN],
  ] as const)
    it(`are ${cookie === HOST ? 'bound to the host' : 'plain'} at ${publicUrl} in ${userAgent.split(' ').at(-1) || 'no browser'}`, () => {
      expect(written(publicUrl, userAgent)).to.equal(cookie);
    });

  it('are read only by their exact name', () => {
    const both = { Cookie: 'a=b; __Host-pressroom-session=host; pressroom-session=plain' };
    const read = (publicUrl: string, headers: Record<string, string>) =>
      createCookies(publicUrl).session(request(headers).ctx);
    expect(read('https://press.example', both)).to.equal('host');
    expect(
      read('https://press.example', { Cookie: 'pressroom-session=plain', 'User-Agent': SAFARI }),
    ).to.equal(undefined);
    expect(read('http://localhost:8080', both)).to.equal('host');
    expect(read('http://localhost:8080', { ...both, 'User-Agent': SAFARI })).to.equal('plain');
    expect(read('http://press.example', both)).to.equal('plain');
  });
});

describe('an installation with a localhost URL', () => {
  const says = (host: string, publicUrl = 'http://localhost:8080') =>
    otherHost(request({ Host: host }).ctx, publicUrl);

  it('shows an error when opened under another name', () => {
    for (const host of ['192.168.1.5:8080', 'press.corp', '[2001:db8::1]:8080'])
      expect(says(host)).to.include('PRESSROOM_PUBLIC_URL');
  });

  it('shows no error on localhost or with a public name', () => {
    for (const host of ['localhost:8080', '127.0.0.1:8080', '[::1]:8080', 'a.localhost'])
      expect(says(host)).to.equal(undefined);
    expect(says('10.0.0.7:8080', 'https://press.example')).to.equal(undefined);
    expect(says('not a host')).to.equal(undefined);
  });
});
