import { expect } from 'chai';
import type { Denied } from '../../../../worker/egress/address-rule.ts';
import { endToEnd, headBytes } from '../../../../worker/egress/headers.ts';
import { createQuota } from '../../../../worker/egress/quota.ts';

const reason = (begin: () => unknown) => {
  try {
    begin();
  } catch (error) {
    return (error as Denied).reason;
  }
  return 'begun';
};

describe('the quota of one render', () => {
  it('limits the number of exchanges', () => {
    const quota = createQuota({ maxRequests: 3, maxConnections: 10, maxBytes: 10 });
    for (let n = 0; n < 3; n++) quota.begin()();
    expect(reason(quota.begin)).to.equal('requests');
    expect(quota.counts()).to.deep.equal({ requests: 3, bytes: 0, open: 0 });
  });

  it('releases a connection only once', () => {
    const quota = createQuota({ maxRequests: 100, maxConnections: 2, maxBytes: 10 });
    const end = quota.begin();
    quota.begin();
    expect(reason(quota.begin)).to.equal('connections');
    end();
    end();
    expect(quota.counts().open).to.equal(1);
    expect(reason(quota.begin)).to.equal('begun');
    expect(reason(quota.begin)).to.equal('connections');
  });

  it('counts an exchange beyond the connection limit as well', () => {
    const quota = createQuota({ maxRequests: 3, maxConnections: 1, maxBytes: 10 });
    expect([1, 2, 3, 4].map(() => reason(quota.begin))).to.deep.equal([
      'begun',
      'connections',
      'connections',
      'requests',
    ]);
  });

  it('allows exactly the byte limit, and no new exchange beyond it', () => {
    const quota = createQuota({ maxRequests: 10, maxConnections: 10, maxBytes: 10 });
    expect(quota.spend(10)).to.equal(true);
    expect(reason(quota.begin)).to.equal('begun');
    expect(quota.spend(1)).to.equal(false);
    expect(reason(quota.begin)).to.equal('bytes');
  });
});

describe('the header fields that the guard forwards', () => {
  it('are all end-to-end fields in their order and spelling', () => {
    const raw = [
      ...[
        'X-One',
        '1',
        'Connection',
        'close, X-Private',
        'connection',
        'x-also',
        'x-private',
        'p',
        'X-Also',
        'q',
        'Keep-Alive',
        'timeout=5',
      ],
      ...[
        'Proxy-Connection',
        'keep-alive',
        'PROXY-Authorization',
        'Basic x',
        'Proxy-Authenticate',
        'Basic',
        'TE',
        'trailers',
        'Trailer',
        'X-T',
      ],
      ...[
        'Transfer-Encoding',
        'chunked',
        'Upgrade',
        'h2c',
        'Expect',
        '100-continue',
        'Set-Cookie',
        'a=1',
        'Set-Cookie',
        'b=2',
        'cONTENT-tYPE',
        'text/html',
      ],
    ];
    expect(endToEnd(raw)).to.deep.equal([
      ['X-One', '1'],
      ['Set-Cookie', 'a=1'],
      ['Set-Cookie', 'b=2'],
      ['cONTENT-tYPE', 'text/html'],
    ]);
  });

  it('include Content-Length even when Connection names it', () => {
    expect(endToEnd(['Connection', 'content-length', 'Content-Length', '3'])).to.deep.equal([
      ['Content-Length', '3'],
    ]);
  });

  it('are counted with their size on the wire', () => {
    expect(headBytes(['Host', 'example.com', 'A', 'b'])).to.equal(
      'Host: example.com\r\nA: b\r\n'.length,
    );
  });
});
