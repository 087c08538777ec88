// @proves url, ssrf_blocked

import { expect } from 'chai';
import { parseRenderRequest } from '../../../../common/contract/render-request.ts';
import { PUBLIC, requestError, shown } from '../../../support/request-error.ts';

const URLS: [url: string, says: string][] = [
  ['', 'not empty'],
  ['example.com', 'must begin with http:// or https://'],
  ['//example.com', 'must begin with http:// or https://'],
  ['/invoice', 'must begin with http:// or https://'],
  ['http:example.com', 'must begin with http:// or https://'],
  ['http:/example.com', 'must begin with http:// or https://'],
  ['ftp://example.com', 'not with "ftp:"'],
  ['file:///etc/passwd', 'not with "file:"'],
  ['javascript:alert(1)', 'not with "javascript:"'],
  ['data:text/html,hello', 'not with "data:"'],
  ['about:blank', 'not with "about:"'],
  ['view-source:http://example.com', 'not with "view-source:"'],
  ['ws://example.com', 'not with "ws:"'],
  ['http://', 'must be a valid URL'],
  ['http:///example.com', 'must be a valid URL'],
  ['http://?q', 'must be a valid URL'],
  ['http://exa<mple.com', 'must be a valid URL'],
  ['http://[::1', 'must be a valid URL'],
  ['http://example.com:99999', 'must be a valid URL'],
  ['http://example.com:80a', 'must be a valid URL'],
  ['http://1.2.3.256/', 'must be a valid URL'],
  ['http://example.com/\ud800', 'must be a valid URL'],
  [' http://example.com', 'white space, control characters or backslashes'],
  ['http://example.com ', 'white space, control characters or backslashes'],
  ['http://example.com/a b', 'white space, control characters or backslashes'],
  ['http://exam\tple.com', 'white space, control characters or backslashes'],
  ['http://example.com/\r\nHost: x', 'white space, control characters or backslashes'],
  ['http://example.com\\@10.0.0.1/', 'white space, control characters or backslashes'],
  ['http:\\\\example.com', 'white space, control characters or backslashes'],
  ['http://example.com/\u0000', 'white space, control characters or backslashes'],
  ['http://example.com/\u0085', 'white space, control characters or backslashes'],
  ['http://example.com/\u3000', 'white space, control characters or backslashes'],
  ['http://me:secret@example.com', 'must not contain a user name or a password'],
  ['http://me@example.com', 'must not contain a user name or a password'],
  ['http://@example.com', 'must not contain a user name or a password'],
  ['http://:@example.com', 'must not contain a user name or a password'],
  ['http://example.com@127.0.0.1/', 'must not contain a user name or a password'],
  ['http://127.0.0.1@example.com/', 'must not contain a user name or a password'],
  ['http://example.com:80@127.0.0.1/', 'must not contain a user name or a password'],
  ['http://example.com:80:@127.0.0.1/', 'must not contain a user name or a password'],
  ['http://example.com@@127.0.0.1/', 'must not contain a user name or a password'],
  ['http://a%40b@127.0.0.1/', 'must not contain a user name or a password'],
  ['http://127.0.0.1\\@example.com/', 'white space, control characters or backslashes'],
  ['http://example.com\\.127.0.0.1/', 'white space, control characters or backslashes'],
  ['http:\\/127.0.0.1/', 'white space, control characters or backslashes'],
  ['http:/\\127.0.0.1/', 'white space, control characters or backslashes'],
  ['http://127.0.0.1/\\', 'white space, control characters or backslashes'],
  ['ht\ntp://127.0.0.1/', 'white space, control characters or backslashes'],
  ['http://127.0.\t0.1/', 'white space, control characters or backslashes'],
  ['http://127.0.\n0.1/', 'white space, control characters or backslashes'],
  ['http://127.0.\r0.1/', 'white space, control characters or backslashes'],
  ['\u0000http://127.0.0.1/', 'white space, control characters or backslashes'],
  ['\u0001http://127.0.0.1/', 'white space, control characters or backslashes'],
  ['http://127.0.0.1\u001f', 'white space, control characters or backslashes'],
  ['http://127.0.0.1\u007f/', 'white space, control characters or backslashes'],
  ['http://127.0.0.1\u00a0/', 'white space, control characters or backslashes'],
  ['http://127.0.0.1\u2028/', 'white space, control characters or backslashes'],
  ['\ufeffhttp://127.0.0.1/', 'white space, control characters or backslashes'],
  ['http://127.0.0.1\ufeff/', 'white space, control characters or backslashes'],
  ['HTTP:127.0.0.1', 'must begin with http:// or https://'],
  ['hTTps:/127.0.0.1/', 'must begin with http:// or https://'],
  ['http//127.0.0.1', 'must begin with http:// or https://'],
  ['://127.0.0.1', 'must begin with http:// or https://'],
  ['127.0.0.1', 'must begin with http:// or https://'],
  ['localhost:80', 'must begin with http:// or https://'],
  ['ｈttp://127.0.0.1/', 'must begin with http:// or https://'],
  ['httpſ://127.0.0.1/', 'must begin with http:// or https://'],
  ['FILE:///etc/passwd', 'not with "FILE:"'],
  ['gopher://127.0.0.1:70/', 'not with "gopher:"'],
  ['chrome://version', 'not with "chrome:"'],
  ['blob:http://127.0.0.1/1', 'not with "blob:"'],
  ['filesystem:http://127.0.0.1/temporary/x', 'not with "filesystem:"'],
  ['feed:http://127.0.0.1/', 'not with "feed:"'],
  ['http:////127.0.0.1/', 'must be a valid URL'],
  ['http://#@127.0.0.1/', 'must be a valid URL'],
  ['http://?@127.0.0.1/', 'must be a valid URL'],
  ['http://:80/', 'must be a valid URL'],
  ['http://127.0.0.1:080a/', 'must be a valid URL'],
  ['http://example.com%40127.0.0.1/', 'must be a valid URL'],
  ['http://example.com%2f@127.0.0.1/', 'must not contain a user name or a password'],
  ['http://127.0.0.1%5c.example.com/', 'must be a valid URL'],
  ['http://127.0.0.1../', 'must be a valid URL'],
  ['http://localhost../', 'must be a valid URL'],
  ['http://exa$mple.com/', 'must be a valid URL'],
  [`http://${'a'.repeat(64)}.example/`, 'must be a valid URL'],
  [`http://${'a.'.repeat(126)}ab/`, 'must be a valid URL'],
  [`http://example.com/${'a'.repeat(8_192)}`, 'at most 8192 bytes long, not 8211'],
  [`http://example.com/${'é'.repeat(4_100)}`, 'at most 8192 bytes long, not 8219'],
  ['http://example.com:22/', 'one of the ports 80, 443, 8080, 8443, not 22'],
  ['https://example.com:9222/', 'one of the ports 80, 443, 8080, 8443, not 9222'],
  ['http://example.com:0/', 'not 0'],
];

const PRIVATE_URLS = [
  'http://127.0.0.1/',
  'http://127.1/',
  'http://2130706433/',
  'http://0x7f.0.0.1/',
  'http://0177.0.0.1/',
  'http://127.0.0.1./',
  'http://0/',
  'http://10.0.0.1/',
  'http://172.16.0.1/',
  'http://192.168.1.1/',
  'http://100.64.0.1/',
  'http://169.254.169.254/latest/meta-data/',
  'http://224.0.0.1/',
  'http://255.255.255.255/',
  'http://[::1]/',
  'http://[::]/',
  'http://[fe80::1]/',
  'http://[fd00:ec2::254]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:8.8.8.8]/',
  'http://[64:ff9b::7f00:1]/',
  'http://localhost/',
  'http://LOCALHOST/',
  'http://localhost./',
  'http://app.localhost/',
  'http://%6c%6f%63%61%6c%68%6f%73%74/',
  'http://①②⑦.0.0.1/',
  'http://127.0.0.1:9222/json/version',
  'HtTp://127.0.0.1/',
  'http://127.0.0.1#@example.com/',
  'http://127.0.0.1?@example.com/',
  'http://127.0.0.1/@example.com',
  'http://127.0.0.1:0080/',
  'https://127.0.0.1:/',
  'http://[::1]:80#/',
  'http://[2606:4700::5efe:127.0.0.1]/',
  'https://localhost:27017/',
];

describe('URLs in a render request', () => {
  for (const [url, says] of URLS) {
    it(`rejects the URL ${shown(url)}`, () => {
      const error = requestError({ url });
      expect(error.code).to.equal('validation_error');
      expect(error.message)
        .to.match(/^`url` must /)
        .and.to.contain(says);
    });
  }

  it('accepts host names of maximum length in any script', () => {
    const longest = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`;
    for (const url of [
      `http://${longest}/`,
      `http://${longest}./`,
      'http://bücher.example/',
      'http://_dmarc.example.com/',
      'http://r3---sn.example./',
      'http://例え.テスト/',
    ])
      expect(parseRenderRequest({ url }, PUBLIC)).to.deep.equal({ url });
  });

  for (const url of PRIVATE_URLS) {
    it(`blocks the private address ${url}`, () => {
      const error = requestError({ url });
      expect(error).to.include({ code: 'ssrf_blocked', status: 422 });
      expect(error.message)
        .to.contain('`url`')
        .and.not.match(/\d|localhost/);
    });
  }
});
