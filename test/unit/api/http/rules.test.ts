// @proves error-envelope, validation_error, bearer, client-ip

import type { IncomingHttpHeaders } from 'node:http';
import { expect } from 'chai';
import { loggedPath } from '../../../../api/http/access-log.ts';
import { checkBodyHeaders } from '../../../../api/http/body.ts';
import { bearerToken, clientIp, parseTrustedProxies } from '../../../../api/http/caller.ts';
import { asApiError, envelope } from '../../../../api/http/errors.ts';
import { ConfigError } from '../../../../common/config.ts';
import { ApiError, renderFailed } from '../../../../common/contract/errors.ts';

describe('the bearer token', () => {
  const read: [string | undefined, string | undefined][] = [
    ['Bearer abc', 'abc'],
    ['bearer abc', 'abc'],
    ['BEARER   abc ', 'abc'],
    ['Bearer', undefined],
    ['Bearer ', undefined],
    ['Bearerabc', undefined],
    ['Bearer a b', undefined],
    ['Basic abc', undefined],
    ['', undefined],
    [undefined, undefined],
  ];
  for (const [header, token] of read)
    it(`is ${token} for the header ${JSON.stringify(header)}`, () =>
      expect(bearerToken(header)).to.equal(token));
});

describe('the client address', () => {
  const trusted = parseTrustedProxies(['10.0.0.0/8', 'fd00::/8', '192.0.2.1']);
  const cases: [string, string, string | undefined, string][] = [
    ['is the socket when nothing is forwarded', '203.0.113.9', undefined, '203.0.113.9'],
    [
      'is the socket when the peer is no trusted proxy',
      '203.0.113.9',
      '198.51.100.1',
      '203.0.113.9',
    ],
    ['is the one that a trusted proxy forwards', '10.1.2.3', '198.51.100.1', '198.51.100.1'],
    [
      'is the right-most untrusted one, not what the caller invented',
      '10.1.2.3',
      '1.1.1.1, 198.51.100.1, 10.9.9.9',
      '198.51.100.1',
    ],
    ['is the left-most proxy when all are trusted', '10.1.2.3', '10.0.0.7, 192.0.2.1', '10.0.0.7'],
    [
      'is IPv4 when the socket reports it mapped to IPv6',
      '::ffff:10.1.2.3',
      '::ffff:198.51.100.1',
      '198.51.100.1',
    ],
    ['is read without the port', '10.1.2.3', '198.51.100.1:4711', '198.51.100.1'],
    ['is read without brackets and port', 'fd00::1', '[2001:db8::7]:443', '2001:db8::7'],
    [
      'is the last known hop when an entry is no address',
      '10.1.2.3',
      '198.51.100.1, unknown',
      '10.1.2.3',
    ],
    [
      'is the last known hop when an entry is empty',
      '10.1.2.3',
      '198.51.100.1,, 10.4.4.4',
      '10.4.4.4',
    ],
  ];
  for (const [what, peer, forwarded, client] of cases)
    it(what, () => expect(clientIp(peer, forwarded, trusted)).to.equal(client));

  it('rejects a trusted proxy that is not a network, and names it', () => {
    expect(() => parseTrustedProxies(['10.0.0.0/8', 'proxy.example'])).to.throw(
      ConfigError,
      'PRESSROOM_TRUSTED_PROXIES: `proxy.example`',
    );
  });
});

describe('the headers of a body', () => {
  const good = { 'content-type': 'application/json', 'content-length': '2' };
  const accepted: Record<string, IncomingHttpHeaders> = {
    'application/json': good,
    'a charset': { ...good, 'content-type': 'Application/JSON; Charset=UTF-8' },
    'a quoted charset': { ...good, 'content-type': 'application/json;charset="utf-8"' },
    'another parameter': { ...good, 'content-type': 'application/json; profile=x' },
    'identity encoding': { ...good, 'content-encoding': 'Identity' },
  };
  for (const [what, headers] of Object.entries(accepted)) {
    it(`are accepted with ${what}`, () => expect(checkBodyHeaders(headers, 10)).to.equal(2));
  }
  it('are accepted with a chunked body', () => {
    expect(
      checkBodyHeaders({ 'content-type': 'application/json', 'transfer-encoding': 'chunked' }, 10),
    ).to.equal(undefined);
  });

  const rejected: [string, IncomingHttpHeaders, string, string][] = [
    ['no body', { 'content-type': 'application/json' }, 'validation_error', 'body is missing'],
    ['an empty body', { ...good, 'content-length': '0' }, 'validation_error', 'body is missing'],
    ['no type', { 'content-length': '2' }, 'validation_error', '`Content-Type` is missing'],
    [
      'another type',
      { ...good, 'content-type': 'text/html' },
      'validation_error',
      '`Content-Type`',
    ],
    [
      'a type that only begins so',
      { ...good, 'content-type': 'application/json-patch' },
      'validation_error',
      '`Content-Type`',
    ],
    [
      'a form',
      { ...good, 'content-type': 'application/x-www-form-urlencoded' },
      'validation_error',
      'application/json',
    ],
    [
      'another charset',
      { ...good, 'content-type': 'application/json; charset=latin1' },
      'validation_error',
      'charset in `Content-Type`: "latin1"',
    ],
    [
      'a compressed body',
      { ...good, 'content-encoding': 'gzip' },
      'validation_error',
      '`Content-Encoding`',
    ],
    ['too long a body', { ...good, 'content-length': '11' }, 'payload_too_large', '10 bytes'],
  ];
  for (const [what, headers, code, message] of rejected) {
    it(`are rejected with ${what}`, () => {
      expect(() => checkBodyHeaders(headers, 10))
        .to.throw(ApiError, message)
        .with.property('code', code);
    });
  }
});

const PUBLIC_URL = 'https://pdf.example.com';

describe('the error response', () => {
  it('is an internal error of the path for an unexpected error', () => {
    const cause = new TypeError('secret detail');
    const onRender = asApiError(cause, true);
    expect(onRender).to.include({ code: 'render_failed', reason: 'internal', status: 502, cause });
    expect(asApiError(cause, false)).to.include({ code: 'internal', status: 500, cause });
    expect(envelope(onRender, 'id', PUBLIC_URL).toString()).to.not.contain('secret');
  });

  it('has code, message, request id and a link, and a reason only for render_failed', () => {
    const parsed = (error: ApiError) => JSON.parse(envelope(error, 'id', PUBLIC_URL).toString());
    expect(parsed(renderFailed('queue_full', 'Full.'))).to.deep.equal({
      error: {
        code: 'render_failed',
        message: 'Full.',
        request_id: 'id',
        reason: 'queue_full',
        doc_url: `${PUBLIC_URL}/docs/guides/errors#render_failed-queue_full`,
      },
    });
    expect(parsed(new ApiError('not_found', 'No.'))).to.deep.equal({
      error: {
        code: 'not_found',
        message: 'No.',
        request_id: 'id',
        doc_url: `${PUBLIC_URL}/docs/guides/errors#not_found`,
      },
    });
  });
});

describe('a path in the log', () => {
  it('is bounded and contains neither a key nor the token of a link', () => {
    expect(loggedPath('/v1/render')).to.equal('/v1/render');
    expect(loggedPath('/v1/pressroom_live_0123456789abcdef/x')).to.equal('/v1/pressroom_live_…/x');
    expect(loggedPath('/v1/pressroom_test_0123456789abcdef/x')).to.equal('/v1/pressroom_test_…/x');
    expect(loggedPath(`/files/${'a'.repeat(43)}`)).to.equal('/files/…');
    expect(loggedPath(`/${'a'.repeat(500)}`)).to.have.length(128);
  });
});
