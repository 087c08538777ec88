// @proves egress

import { expect } from 'chai';
import fc from 'fast-check';
import { isPublicAddress, parseNetwork } from '../../../../common/addresses.ts';
import { decideEgress, portMayBeOpen, type Rules } from '../../../../worker/egress/address-rule.ts';
import { parseAllowList } from '../../../../worker/egress/allow-list.ts';
import { parseAuthority } from '../../../../worker/egress/target.ts';

const PORTS = [80, 443, 8080, 8443];
const rules = (policy: Rules['policy'], ...allow: string[]): Rules => ({
  policy,
  allow: parseAllowList(allow),
  deny: [],
  ports: PORTS,
});

/** What is decided over `target`, a text, as a text: the addresses to dial, or the reason. */
function decided(target: string, addresses: string[], given: Rules): string {
  const decision = decideEgress(parseAuthority(target)!, addresses, given);
  return 'allowed' in decision ? decision.allowed.join(' ') : decision.denied;
}

describe('the decision over a connection', () => {
  const corp = ['wiki.corp', '*.apps.corp:9000', '10.1.0.0/16', '127.1.0.0/16:3000'];
  // [policy, target, what its name answers, decision]
  const table: [Rules['policy'], string, string[], string][] = [
    ['public', 'shop.example:443', ['93.184.216.34'], '93.184.216.34'],
    [
      'public',
      'shop.example:443',
      ['93.184.216.34', '2606:2800:220:1::1'],
      '93.184.216.34 2606:2800:220:1::1',
    ],
    ['public', 'shop.example:443', [], 'address'],
    ['public', 'shop.example:443', ['not an address'], 'address'],
    ['public', 'shop.example:443', ['127.0.0.1'], 'address'],
    ['public', 'shop.example:443', ['93.184.216.34', '10.0.0.1'], 'address'],
    ['public', 'shop.example:443', ['10.0.0.1', '93.184.216.34'], 'address'],
    ['public', 'shop.example:443', ['93.184.216.34', '::1'], 'address'],
    ['public', 'shop.example:443', ['::ffff:93.184.216.34'], 'address'],
    ['public', 'shop.example:443', ['64:ff9b::5db8:d822'], 'address'],
    ['public', 'shop.example:22', ['93.184.216.34'], 'port'],
    ['public', 'shop.example:22', ['10.0.0.1'], 'address'],
    ['public', 'shop.example:22', ['93.184.216.34', '10.0.0.1'], 'address'],
    ['public', '169.254.169.254:80', ['169.254.169.254'], 'address'],
    ['public', 'localhost:80', ['127.0.0.1', '::1'], 'address'],
    // The allowlist is for accounts marked `intranet` only.
    ['public', 'wiki.corp:443', ['10.9.9.9'], 'address'],
    ['public', 'any.example:80', ['10.1.2.3'], 'address'],
    ['public', '127.1.0.1:3000', ['127.1.0.1'], 'address'],
    ['public', 'wiki.corp:443', ['93.184.216.34'], '93.184.216.34'],
    ['intranet', 'shop.example:443', ['93.184.216.34'], '93.184.216.34'],
    ['intranet', 'shop.example:22', ['93.184.216.34'], 'port'],
    ['intranet', 'shop.example:443', ['10.9.9.9'], 'address'],
    // A host pattern opens private networks, on the general ports when it names none.
    ['intranet', 'wiki.corp:443', ['10.9.9.9'], '10.9.9.9'],
    ['intranet', 'WIKI.corp.:443', ['10.9.9.9'], '10.9.9.9'],
    ['intranet', 'wiki.corp:443', ['fd12::1', '192.168.1.1'], 'fd12::1 192.168.1.1'],
    ['intranet', 'wiki.corp:443', ['::ffff:10.9.9.9'], '10.9.9.9'],
    ['intranet', 'wiki.corp:9000', ['10.9.9.9'], 'port'],
    ['intranet', 'my.wiki.corp:443', ['10.9.9.9'], 'address'],
    ['intranet', 'notwiki.corp:443', ['10.9.9.9'], 'address'],
    ['intranet', 'wiki.corp.evil.example:443', ['10.9.9.9'], 'address'],
    // … but never this machine, the link or a metadata service.
    ['intranet', 'wiki.corp:443', ['127.0.0.1'], 'address'],
    ['intranet', 'wiki.corp:443', ['::1'], 'address'],
    ['intranet', 'wiki.corp:443', ['0.0.0.0'], 'address'],
    ['intranet', 'wiki.corp:443', ['::'], 'address'],
    ['intranet', 'wiki.corp:443', ['::ffff:127.0.0.1'], 'address'],
    ['intranet', 'wiki.corp:443', ['169.254.169.254'], 'address'],
    ['intranet', 'wiki.corp:443', ['fe80::1'], 'address'],
    ['intranet', 'wiki.corp:443', ['fd00:ec2::254'], 'address'],
    ['intranet', 'wiki.corp:443', ['100.100.100.200'], 'address'],
    ['intranet', 'wiki.corp:443', ['168.63.129.16'], 'address'],
    ['intranet', 'wiki.corp:443', ['192.0.0.192'], 'address'],
    ['intranet', 'wiki.corp:443', ['10.9.9.9', '169.254.169.254'], 'address'],
    // A pattern with a port opens that one only, in the general list or not.
    ['intranet', 'a.apps.corp:9000', ['10.9.9.9'], '10.9.9.9'],
    ['intranet', 'a.b.apps.corp:9000', ['10.9.9.9'], '10.9.9.9'],
    ['intranet', 'a.apps.corp:443', ['10.9.9.9'], 'port'],
    ['intranet', 'apps.corp:9000', ['10.9.9.9'], 'address'],
    ['intranet', 'xapps.corp:9000', ['10.9.9.9'], 'address'],
    ['intranet', 'a.apps.corp:9000', ['93.184.216.34'], '93.184.216.34'],
    // A network opens what lies in it, whatever the name.
    ['intranet', '10.1.2.3:80', ['10.1.2.3'], '10.1.2.3'],
    ['intranet', '[::ffff:10.1.2.3]:80', ['::ffff:a01:203'], '10.1.2.3'],
    ['intranet', 'any.example:80', ['10.1.2.3'], '10.1.2.3'],
    ['intranet', 'any.example:80', ['10.2.2.3'], 'address'],
    ['intranet', 'any.example:80', ['10.1.2.3', '10.2.2.3'], 'address'],
    ['intranet', 'any.example:80', ['10.1.2.3', '93.184.216.34'], '10.1.2.3 93.184.216.34'],
    ['intranet', 'any.example:3000', ['10.1.2.3'], 'port'],
    ['intranet', '127.1.0.1:3000', ['127.1.0.1'], '127.1.0.1'],
    ['intranet', '127.1.0.1:80', ['127.1.0.1'], 'port'],
    ['intranet', 'any.example:3000', ['127.1.9.9'], '127.1.9.9'],
    ['intranet', 'any.example:3000', ['127.0.0.1'], 'address'],
    ['intranet', 'localhost:3000', ['127.0.0.1', '::1'], 'address'],
  ];
  for (const [policy, target, addresses, expected] of table) {
    it(`for ${policy}: ${target} at ${addresses.join(', ') || 'no address'} is ${/^[ap]/.test(expected) ? `rejected: ${expected}` : 'allowed'}`, () => {
      expect(decided(target, addresses, rules(policy, ...corp))).to.equal(expected);
    });
  }

  it('allows localhost when only one of its two addresses is allowed', () => {
    expect(
      decided('localhost:3000', ['127.0.0.1', '::1'], rules('intranet', '127.0.0.1:3000')),
    ).to.equal('127.0.0.1');
    expect(
      decided('localhost:3001', ['127.0.0.1', '::1'], rules('intranet', '127.0.0.1:3000')),
    ).to.equal('address');
    expect(
      decided('localhost:3000', ['127.0.0.1', '::1'], rules('public', '127.0.0.1:3000')),
    ).to.equal('address');
    expect(
      decided('a.localhost:3000', ['127.0.0.1', '::1'], rules('intranet', '[::1]:3000')),
    ).to.equal('::1');
  });

  it('allows even metadata services through an explicit network', () => {
    expect(
      decided('169.254.169.254:80', ['169.254.169.254'], rules('intranet', '169.254.169.254')),
    ).to.equal('169.254.169.254');
  });

  it('never allows a private address for a public account', () => {
    const everything = rules('public', '0.0.0.0/0', '::/0', '*.example', '0.0.0.0/0:22');
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.ipV4(), fc.ipV6()), { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 65_535 }),
        (addresses, port) => {
          const decision = decideEgress({ host: 'a.example', port }, addresses, everything);
          const open = addresses.every(isPublicAddress) && PORTS.includes(port);
          expect('allowed' in decision).to.equal(open);
        },
      ),
    );
  });

  describe('about what the operator closed', () => {
    const deny = ['203.0.114.0/24', '2a0e:1:64::/96', '10.1.3.0/24', '2606:2800:220:1::1'].map(
      network => parseNetwork(network)!,
    );
    // [policy, allowlist, target, what its name answers, decision]
    const closed: [Rules['policy'], string[], string, string[], string][] = [
      ['public', [], '203.0.114.7:443', ['203.0.114.7'], 'address'],
      ['public', [], 'own.example:443', ['203.0.114.0'], 'address'],
      ['public', [], 'own.example:443', ['203.0.114.255'], 'address'],
      ['public', [], 'own.example:443', ['203.0.115.0'], '203.0.115.0'],
      ['public', [], 'own.example:443', ['203.0.115.0', '203.0.114.1'], 'address'],
      ['public', [], 'own.example:22', ['203.0.114.1'], 'address'],
      ['public', [], 'nat.example:443', ['2a0e:1:64::a00:1'], 'address'],
      ['public', [], 'nat.example:443', ['2a0e:1:64:1::a00:1'], '2a0e:1:64:1::a00:1'],
      ['public', [], 'one.example:443', ['2606:2800:220:1::1'], 'address'],
      ['public', ['203.0.114.0/24'], 'own.example:443', ['203.0.114.1'], 'address'],
      ['intranet', [], 'own.example:443', ['203.0.114.1'], 'address'],
      ['intranet', ['own.example', '*.own.example'], 'own.example:443', ['203.0.114.1'], 'address'],
      ['intranet', ['own.example'], 'own.example:443', ['10.1.3.1'], 'address'],
      ['intranet', ['own.example'], 'own.example:443', ['10.1.4.1'], '10.1.4.1'],
      // Who names the network itself means it.
      ['intranet', ['203.0.114.7'], 'own.example:443', ['203.0.114.7'], '203.0.114.7'],
      ['intranet', ['203.0.114.0/24'], 'own.example:443', ['203.0.114.7'], '203.0.114.7'],
      ['intranet', ['203.0.114.7:8080'], 'own.example:443', ['203.0.114.7'], 'port'],
    ];
    for (const [policy, allow, target, addresses, expected] of closed) {
      it(`for ${policy}: ${target} at ${addresses.join(', ')} with ${allow.join(', ') || 'nothing'} open is ${/^[ap]/.test(expected) ? `rejected: ${expected}` : 'allowed'}`, () => {
        expect(decided(target, addresses, { ...rules(policy, ...allow), deny })).to.equal(expected);
      });
    }
  });

  it('blocks a port that no rule allows before a lookup', () => {
    expect(portMayBeOpen(443, rules('public'))).to.equal(true);
    expect(portMayBeOpen(22, rules('public', 'wiki.corp:22'))).to.equal(false);
    expect(portMayBeOpen(22, rules('intranet', 'wiki.corp:22'))).to.equal(true);
    expect(portMayBeOpen(23, rules('intranet', 'wiki.corp:22', '10.0.0.0/8'))).to.equal(false);
  });
});
