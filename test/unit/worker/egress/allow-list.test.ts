import { expect } from 'chai';
import { readApiConfig } from '../../../../api/config.ts';
import { readWorkerConfig } from '../../../../worker/config.ts';
import { parseAllowList, parseAllowRule } from '../../../../worker/egress/allow-list.ts';

const shown = (entry: string) => {
  const rule = parseAllowRule(entry);
  const place =
    rule.kind === 'network' ? rule.network.cidr : `${rule.below ? 'below ' : ''}${rule.host}`;
  return `${rule.kind} ${place} ${rule.port ?? 'listed ports'}`;
};

describe('PRESSROOM_EGRESS_ALLOW', () => {
  const good: [string, string][] = [
    ['wiki.corp', 'host wiki.corp listed ports'],
    ['WIKI.Corp.', 'host wiki.corp listed ports'],
    ['wiki', 'host wiki listed ports'],
    ['wiki.corp:8443', 'host wiki.corp 8443'],
    ['*.corp.example', 'host below corp.example listed ports'],
    ['*.corp:1', 'host below corp 1'],
    ['bücher.corp', 'host xn--bcher-kva.corp listed ports'],
    ['10.0.0.0/8', 'network 10.0.0.0/8 listed ports'],
    ['10.0.0.0/8:65535', 'network 10.0.0.0/8 65535'],
    ['10.1.2.3', 'network 10.1.2.3/32 listed ports'],
    ['10.1.2.3:8080', 'network 10.1.2.3/32 8080'],
    ['0.0.0.0/0', 'network 0.0.0.0/0 listed ports'],
    ['fd00::/8', 'network fd00::/8 listed ports'],
    ['fd00::/8:443', 'network fd00::/8 443'],
    ['[fd00::/8]:443', 'network fd00::/8 443'],
    ['fd00::1', 'network fd00::1/128 listed ports'],
    ['[fd00::1]', 'network fd00::1/128 listed ports'],
    ['[fd00::1]:443', 'network fd00::1/128 443'],
    ['::ffff:10.0.0.0/104', 'network 10.0.0.0/8 listed ports'],
  ];
  for (const [entry, expected] of good)
    it(`reads ${entry}`, () => expect(shown(entry)).to.equal(expected));

  const wrong: [string, RegExp][] = [
    ['10.1.2.3/8', /Use `10\.0\.0\.0\/8` for the network or `10\.1\.2\.3` for the single address/],
    ['fd00::1/8', /Use `fd00::\/8` for the network or `fd00::1` for the single address/],
    ['10.0.0/8', /is not a valid network\. Use CIDR notation/],
    ['10.0.0.0/33', /is not a valid network/],
    ['10.0.0.0/', /is not a valid network/],
    ['fd00::/129', /is not a valid network/],
    ['2001:db8', /is not a valid network/],
    ['10.0.0', /is not a valid IPv4 address/],
    ['300.1.1.1', /is not a valid IPv4 address/],
    ['0x7f.0.0.1', /is not a valid IPv4 address/],
    ['*.10', /is not a valid IPv4 address/],
    ['http://wiki.corp', /Use only the host/],
    ['https://wiki.corp:443/start', /Use only the host/],
    ['wiki.corp/start', /Use only the host/],
    ['*', /has a misplaced `\*`/],
    ['*.', /has a misplaced `\*`/],
    ['wiki.*.corp', /has a misplaced `\*`/],
    ['wiki*.corp', /has a misplaced `\*`/],
    ['wiki.corp:0', /Use a number from 1 to 65535/],
    ['wiki.corp:65536', /Use a number from 1 to 65535/],
    ['wiki.corp:', /Use a number from 1 to 65535/],
    ['10.0.0.0/8:70000', /Use a number from 1 to 65535/],
    ['wiki.corp:http', /neither a host pattern nor a network/],
    ['wiki.corp:80:90', /neither a host pattern nor a network/],
    ['[wiki.corp]:80', /has brackets but no IPv6 address/],
    ['fe80::1%eth0', /neither a host pattern nor a network/],
    ['user@wiki.corp', /neither a host pattern nor a network/],
    ['wiki corp', /neither a host pattern nor a network/],
    ['wi$ki.corp', /neither a host pattern nor a network/],
    ['wiki..corp', /neither a host pattern nor a network/],
    ['localhost', /names cannot allow loopback addresses.*127\.0\.0\.0\/8/],
    ['*.localhost:3000', /names cannot allow loopback addresses/],
  ];
  for (const [entry, how] of wrong) {
    it(`rejects ${entry} with a fix`, () => {
      expect(() => parseAllowRule(entry))
        .to.throw(how)
        .with.property('message')
        .that.includes(`\`${entry}\``);
    });
  }

  it('keeps the order of the list', () => {
    expect(
      parseAllowList(['wiki.corp', '10.0.0.0/8:80']).map(({ kind, port }) => `${kind} ${port}`),
    ).to.deep.equal(['host undefined', 'network 80']);
    expect(parseAllowList([])).to.deep.equal([]);
  });

  it('reports all invalid entries of a list at once', () => {
    const read = () => parseAllowList(['wiki.corp', '10.0.0.0/33', 'ok.corp', 'wiki.corp:0']);
    expect(read).to.throw(/`10\.0\.0\.0\/33` .*\n`wiki\.corp:0` /);
  });
});

describe('PRESSROOM_EGRESS_DENY', () => {
  const parseDenyList = (entries: string[]) =>
    readApiConfig({ PRESSROOM_EGRESS_DENY: entries.join() }).egress.deny;

  it('reads addresses and networks', () => {
    const read = parseDenyList([
      '203.0.114.0/24',
      '203.0.114.7',
      '2a0e:1:64::/96',
      '::ffff:203.0.114.0/120',
    ]);
    expect(read.map(({ cidr }) => cidr)).to.deep.equal([
      '203.0.114.0/24',
      '203.0.114.7/32',
      '2a0e:1:64::/96',
      '203.0.114.0/24',
    ]);
    expect(parseDenyList([])).to.deep.equal([]);
  });

  const wrong: [string, RegExp][] = [
    ['corp.example', /`corp\.example` is not a valid network\. Use CIDR notation/],
    [
      '203.0.114.7/24',
      /Use `203\.0\.114\.0\/24` for the network or `203\.0\.114\.7` for the single address/,
    ],
    ['203.0.114.0/24:80', /is not a valid network/],
    ['[2a0e::]', /is not a valid network/],
    ['203.0.114.0/33', /is not a valid network/],
  ];
  for (const [entry, how] of wrong)
    it(`rejects ${entry}`, () => expect(() => parseDenyList([entry])).to.throw(how));

  it('reports all invalid entries at once', () => {
    expect(() => parseDenyList(['x', '203.0.114.0/24', 'y'])).to.throw(/`x` .*; `y` /);
  });

  it('is parsed by the worker when it starts', () => {
    const secret = { PRESSROOM_POOL_SECRET: 'x'.repeat(32) };
    expect(readWorkerConfig(secret).egress.deny).to.deep.equal([]);
    const { deny } = readWorkerConfig({
      ...secret,
      PRESSROOM_EGRESS_DENY: '203.0.114.0/24, 2a0e:1:64::/96',
    }).egress;
    expect(deny.map(({ cidr }) => cidr)).to.deep.equal(['203.0.114.0/24', '2a0e:1:64::/96']);
    expect(() => readWorkerConfig({ ...secret, PRESSROOM_EGRESS_DENY: 'corp' })).to.throw(
      /PRESSROOM_EGRESS_DENY=corp: `corp` is not a valid network/,
    );
  });

  it('is parsed by the API as well, which fetches client metadata documents', () => {
    const { deny } = readApiConfig({
      PRESSROOM_EGRESS_DENY: '203.0.114.0/24, 2a0e:1:64::/96',
    }).egress;
    expect(deny.map(({ cidr }) => cidr)).to.deep.equal(['203.0.114.0/24', '2a0e:1:64::/96']);
    expect(() => readApiConfig({ PRESSROOM_EGRESS_DENY: 'corp' })).to.throw(
      'PRESSROOM_EGRESS_DENY=corp: `corp` is not a valid network',
    );
  });
});
