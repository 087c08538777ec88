// @proves validation_error, unauthorized, unknown-fields, wrong-types
// Mistakes of callers as real calls: each message names what is wrong, where, and the fix.
import { expect } from 'chai';
import { html, type Installation, installation } from '../../support/installation.ts';

type Mistake = [what: string, fields: object, status: number, message: RegExp];

const FIELDS: Mistake[] = [
  ['no source', { html: undefined }, 400, /exactly one of `html` and `url`\. .* neither/],
  ['two sources', { url: 'https://a.example/' }, 400, /exactly one of `html` and `url`\. .* both/],
  ['an unknown paper', { format: 'B5' }, 400, /`format` must be A0, .* not "B5"/],
  ['paper in pixels', { format: '800x600' }, 400, /`format` .* Did you mean `800pxx600px`\?/],
  ['one side of a paper', { paper_width: '5in' }, 400, /`paper_width` requires `paper_height`/],
  ['a width of a strip', { format: '8.5xauto' }, 400, /`format` .* Did you mean `8\.5inxauto`/],
  ['a strip in landscape', { format: '80mmxauto', landscape: true }, 400, /`landscape` .*`format`/],
  ['a text for a switch', { landscape: 'true' }, 400, /`landscape` must be true or false, not a s/],
  ['a large scale', { scale: 5 }, 400, /`scale` must be a number from 0\.1 to 2, not 5/],
  ['a scale in percent', { scale: '80%' }, 400, /`scale` must be a number .* not a string/],
  ['a margin as a number', { margin: 20 }, 400, /`margin` must be a length .*`10mm`.* not 20/],
  ['a side as a number', { margin: { top: 20 } }, 400, /`margin\.top` must be .*`10mm`.* not 20/],
  ['large margins', { margin: '20' }, 400, /`margin` leaves .* Did you mean `20px`\?/],
  ['a negative margin', { margin: '-1cm' }, 400, /`margin` must be a length of 0 or more/],
  [
    'a mistyped side',
    { margin: { tpo: '1cm' } },
    400,
    /`margin\.tpo` .*Did you mean `margin\.top`/,
  ],
  [
    'pages in reverse',
    { pages: '3-1' },
    400,
    /`pages` must be .* such as `1-3, 5, 8-`.* not "3-1"/,
  ],
  [
    'pages of one page',
    { pages: '1', single_page: true },
    400,
    /`pages` .*`single_page`.*Remove one/,
  ],
  [
    'pages beyond the end',
    { pages: '9' },
    400,
    /`pages` matches no pages: the document has 1 page/,
  ],
  [
    'an unknown medium',
    { emulate_media: 'tv' },
    400,
    /`emulate_media` must be `print` or `screen`/,
  ],
  ['a delay without a unit', { wait_delay: '5' }, 400, /`wait_delay` .* such as `500ms`.* not "5"/],
  ['a long delay', { wait_delay: '1m' }, 400, /`wait_delay` must be a duration from 0 to 30s/],
  ['a timeout without a unit', { timeout: '5' }, 400, /`timeout` .* from 1s .*`1\.5s`, not "5"/],
  ['a long timeout', { timeout: '5m' }, 400, /`timeout` .*to 60s, the limit of this installation/],
  ['an invalid selector', { wait_for_selector: ']a[' }, 400, /`wait_for_selector` .* "\]a\["/],
  [
    'a blank selector',
    { wait_for_selector: ' ' },
    400,
    /`wait_for_selector` .*`#ready`, not blank/,
  ],
  [
    'an invalid expression',
    { wait_for_expression: 'a b' },
    400,
    /`wait_for_expression` .*SyntaxErr/,
  ],
  [
    'a script that throws',
    { javascript: 'throw 1' },
    400,
    /`javascript` failed in the page with "1"/,
  ],
  ['a long script', { javascript: 'a'.repeat(262_145) }, 400, /`javascript` .*262144 .*public URL/],
  ['a long sheet', { css: 'a'.repeat(262_145) }, 400, /`css` must be at most 262144 .*public URL/],
  ['a private sheet', { css: 'http://10.0.0.1/a.css' }, 422, /`css` .* not public\. .*inline/],
  [
    'an unknown placeholder',
    { header: { html: '{{date}}' } },
    400,
    /`header\.html` .*\{\{page\}\}/,
  ],
  [
    'a cookie of no domain',
    { cookies: [{ name: 'a', value: 'b' }] },
    400,
    /`cookies\.0\.domain` is req/,
  ],
  ['cookies as a header', { extra_http_headers: { Cookie: 'a=b' } }, 400, /Cookie.*`cookies`/],
  [
    'a header as a number',
    { extra_http_headers: { 'X-A': 1 } },
    400,
    /`extra_http_headers\.X-A` must/,
  ],
  ['a login for html', { auth: { username: 'a', password: 'b' } }, 400, /`auth` .*`url` instead/],
  ['a path as a name', { filename: 'a/b.pdf' }, 400, /`filename` must not contain `\/`/],
  ['a list as metadata', { metadata: [] }, 400, /`metadata` must be an object with `title`/],
  ['null', { format: null }, 400, /`format` must be a paper size string such as `A4`.* not null/],
  [
    'a name of Puppeteer',
    { printBackground: true },
    400,
    /`printBackground` .*`print_background`\?/,
  ],
  ['a name of wkhtmltopdf', { marginTop: '1cm' }, 400, /`marginTop` .*Use `margin\.top`/],
  [
    'a webhook',
    { webhook_url: 'https://a.example/' },
    400,
    /`webhook_url` .*Webhooks are not supp/,
  ],
  ['a mistyped field', { lanscape: true }, 400, /`lanscape` .*Did you mean `landscape`\?/],
  [
    'a private page',
    { html: undefined, url: 'http://10.0.0.1/' },
    422,
    /`url` .* not public\. .*`html`/,
  ],
  ['a file', { html: undefined, url: 'file:///etc/passwd' }, 400, /`url` must begin with http:/],
  ['a port', { html: undefined, url: 'http://a.example:22/' }, 400, /`url` .* ports 80, .* not 22/],
  [
    'a login in a URL',
    { html: undefined, url: 'http://a:b@c.example/' },
    400,
    /`url` .*use `auth`/,
  ],
];

describe('the message for a mistake', () => {
  let pressroom: Installation;
  before(async () => {
    pressroom = await installation();
  });
  after(() => pressroom?.stop());

  for (const [what, fields, status, message] of FIELDS)
    it(`names the field and the fix for ${what}`, async () => {
      const error = await pressroom.renderError({ html: html('x'), ...fields });
      expect(error.message).to.match(message);
      expect(error.status).to.equal(status);
    });

  const JSON_TYPE = 'application/json';
  const calls: [
    what: string,
    call: { method?: string; key?: string | undefined; type?: string; body?: string },
    status: number,
    message: RegExp,
  ][] = [
    ['no key', { key: undefined }, 401, /`Authorization` .*Bearer/],
    ['another scheme', { key: 'Basic YTpi' }, 401, /Bearer/],
    ['a key of another form', { key: 'Bearer sk_123' }, 401, /key/],
    [
      'another type',
      { type: 'text/html' },
      400,
      /`Content-Type`: "text\/html"\. .*application\/json/,
    ],
    ['no body', { body: '' }, 400, /body is missing\. Send a JSON object with `html` or `url`/],
    ['broken JSON', { body: '{\n "html": x}' }, 400, /not valid JSON: .*/],
    ['a comma too many', { body: '{"html": "x",\n}' }, 400, /at line 2, column 1/],
    ['a list as the body', { body: '[]' }, 400, /must be a JSON object .* not an array/],
    ['another method', { method: 'PUT' }, 405, /POST/],
  ];
  for (const [
    what,
    { method = 'POST', type = JSON_TYPE, body = '{"html":"x"}', ...more },
    status,
    message,
  ] of calls)
    it(`says what to send for ${what}`, async () => {
      const key = 'key' in more ? more.key : `Bearer ${pressroom.key}`;
      const headers = { 'content-type': type, ...(key !== undefined && { authorization: key }) };
      const answer = await pressroom.call(method, '/v1/render', headers, body);
      expect(answer.error().message).to.match(message);
      expect(answer.status).to.equal(status);
    });
});
