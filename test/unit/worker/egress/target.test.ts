import { expect } from 'chai';
import fc from 'fast-check';
import { parseNameServers } from '../../../../worker/egress/resolve.ts';
import {
  isHostName,
  isLoopbackName,
  parseAbsoluteForm,
  parseAuthority,
} from '../../../../worker/egress/target.ts';
import { parseUpstreamProxy } from '../../../../worker/egress/upstream.ts';

describe('the target of a proxied request', () => {
  const authorities: [string, string | undefined][] = [
    ['example.com:443', 'example.com 443'],
    ['EXAMPLE.Com:443', 'example.com 443'],
    ['example.com.:443', 'example.com 443'],
    ['example.com:1', 'example.com 1'],
    ['example.com:65535', 'example.com 65535'],
    ['[::1]:443', '::1 443'],
    ['[0:0:0:0:0:0:0:1]:443', '::1 443'],
    ['[::ffff:127.0.0.1]:80', '::ffff:7f00:1 80'],
    ['127.0.0.1:80', '127.0.0.1 80'],
    ['127.0.0.1.:80', '127.0.0.1 80'],
    ['127.1:80', '127.0.0.1 80'],
    ['2130706433:80', '127.0.0.1 80'],
    ['0x7f000001:80', '127.0.0.1 80'],
    ['0177.0.0.1:80', '127.0.0.1 80'],
    ['0:80', '0.0.0.0 80'],
    ['ex$mple.com:80', 'ex$mple.com 80'],
    ['1.2.3.400:80', '1.2.3.400 80'],
    ['', undefined],
    [':443', undefined],
    ['example.com', undefined],
    ['example.com:', undefined],
    ['example.com:0', undefined],
    ['example.com:65536', undefined],
    ['example.com:99999', undefined],
    ['example.com:443443', undefined],
    ['example.com:-1', undefined],
    ['example.com:+80', undefined],
    ['example.com:8 0', undefined],
    ['example.com:http', undefined],
    ['example.com:80:80', undefined],
    ['user@example.com:80', undefined],
    ['user:password@example.com:80', undefined],
    ['example.com:80/', undefined],
    ['example.com:80?x', undefined],
    ['example.com:80#x', undefined],
    ['example.com\\:80', undefined],
    ['http://example.com:80', undefined],
    ['exa mple.com:80', undefined],
    ['example.com:80\r\n', undefined],
    ['example.com\0:80', undefined],
    ['bücher.example:80', undefined],
    ['%31%32%37.0.0.1:80', undefined],
    ['::1:80', undefined],
    ['[::1]', undefined],
    ['[::1:80', undefined],
    ['[::1]x:80', undefined],
    ['[1.2.3.4]:80', undefined],
    ['[example.com]:80', undefined],
    ['[fe80::1%25eth0]:80', undefined],
    ['[v1.x]:80', undefined],
    [`${'a'.repeat(300)}:80`, undefined],
  ];
  for (const [authority, expected] of authorities) {
    it(`${expected ? `reads ${JSON.stringify(authority)} as ${expected}` : `rejects the authority ${JSON.stringify(authority)}`}`, () => {
      const target = parseAuthority(authority);
      expect(target && `${target.host} ${target.port}`).to.equal(expected);
    });
  }

  it('parses an authority idempotently', () => {
    fc.assert(
      fc.property(
        fc.webAuthority({ withPort: true, withIPv4: true, withIPv6: true, withIPv4Extended: true }),
        authority => {
          const target = parseAuthority(authority, 80);
          fc.pre(target !== undefined);
          const again = parseAuthority(
            `${target!.host.includes(':') ? `[${target!.host}]` : target!.host}:${target!.port}`,
          );
          expect(again).to.deep.equal(target);
        },
      ),
    );
  });

  it('parses a request in absolute form and keeps its path', () => {
    const cases: [string, string | undefined][] = [
      ['http://example.com/a/../b?c=%20d', 'example.com 80 example.com /a/../b?c=%20d'],
      ['http://EXAMPLE.com:8080/', 'example.com 8080 EXAMPLE.com:8080 /'],
      ['HTTP://example.com', 'example.com 80 example.com /'],
      ['http://example.com?q', 'example.com 80 example.com /?q'],
      ['http://[::1]:81/x', '::1 81 [::1]:81 /x'],
      ['/index.html', undefined],
      ['*', undefined],
      ['http:///x', undefined],
      ['http:/example.com/', undefined],
      ['https://example.com/', undefined],
      ['ftp://example.com/', undefined],
      ['file:///etc/passwd', undefined],
      ['http://user@example.com/', undefined],
      ['http://example.com:0/', undefined],
      ['http://example.com:/', undefined],
      ['http://example.com\\@evil.example/', undefined],
      ['http://example.com/#fragment', undefined],
    ];
    for (const [url, expected] of cases) {
      const read = parseAbsoluteForm(url);
      expect(
        read && `${read.target.host} ${read.target.port} ${read.authority} ${read.path}`,
        url,
      ).to.equal(expected);
    }
  });

  it('accepts only names that can be resolved', () => {
    for (const name of [
      'example.com',
      'a',
      'wiki',
      'a-b.example',
      '_dmarc.example.com',
      'r3---sn.example',
      'xn--bcher-kva.example',
      '1and1.com',
      '4.example',
    ])
      expect(isHostName(name), name).to.equal(true);
    const odd = [
      '',
      '.',
      'a..b',
      '.a',
      'a.',
      'a b',
      'a,b',
      'ex$mple.com',
      'a/b',
      '*',
      'a:b',
      '[::1',
      'bücher',
      '1.2.3.400',
      '1',
      'a.1',
      'a.0x1',
      'a.0x',
    ];
    for (const name of [...odd, `${'a'.repeat(64)}.com`, `${'a.'.repeat(127)}com`])
      expect(isHostName(name), name).to.equal(false);
  });

  it('recognises the names of this machine', () => {
    expect(['localhost', 'app.localhost', 'a.b.localhost'].every(isLoopbackName)).to.equal(true);
    expect(
      ['localhost.example', 'notlocalhost', 'localhos', 'localhost.'].some(isLoopbackName),
    ).to.equal(false);
  });

  it('parses the upstream proxy and never prints its password', () => {
    expect(parseUpstreamProxy('http://proxy.corp:3128')).to.deep.equal({
      target: { host: 'proxy.corp', port: 3128 },
      authorization: undefined,
    });
    expect(parseUpstreamProxy('http://[fd00::1]')).to.deep.equal({
      target: { host: 'fd00::1', port: 80 },
      authorization: undefined,
    });
    expect(parseUpstreamProxy('http://me:p%40ss@proxy.corp:3128/').authorization).to.equal(
      `Basic ${btoa('me:p@ss')}`,
    );
    for (const wrong of [
      'proxy.corp:3128',
      'https://me:hunter2@proxy.corp',
      'http://me:hunter2@proxy.corp/x',
      'socks5://proxy.corp',
      'http://',
      'http://proxy.corp/?a',
    ])
      expect(() => parseUpstreamProxy(wrong), wrong)
        .to.throw(Error, /http:\/\/host:port/)
        .with.property('message')
        .that.does.not.include('hunter2');
  });

  it('parses name servers and names the fix for each invalid one', () => {
    expect(
      parseNameServers([
        '10.0.0.53',
        '10.0.0.53:5353',
        'fd00::53',
        '[fd00::53]',
        '[fd00::53]:5353',
      ]),
    ).to.deep.equal([
      '10.0.0.53:53',
      '10.0.0.53:5353',
      '[fd00::53]:53',
      '[fd00::53]:53',
      '[fd00::53]:5353',
    ]);
    const wrong = ['dns.corp', '10.0.0.53:0', '10.0.0.300', 'udp://10.0.0.53', '10.0.0.53:'];
    for (const entry of wrong)
      expect(() => parseNameServers([entry]), entry).to.throw(
        Error,
        `\`${entry}\` is not a valid name server. Use an IP address`,
      );
    expect(() => parseNameServers(['10.0.0.53', ...wrong])).to.throw(
      /^(`[^`]+` is not a valid name server.*\n?){5}$/,
    );
  });
});
