// @proves header, header.html, header.height, footer, footer.html, footer.height

import { expect } from 'chai';
import { requestError, shown } from '../../../support/request-error.ts';

/** The header or footer, the member in the message, and part of the message. */
type Row = [value: unknown, member: string, says: string];

const PLACEHOLDERS = 'the placeholders are `{{page}}` and `{{total}}`';
const only = (name: string) =>
  `must not use the class "${name}"; only "pageNumber" and "totalPages" are supported`;

const SHAPES: Row[] = [
  [null, '', 'must be an object with `html` and `height`, not null'],
  ['<b>x</b>', '', 'not a string'],
  [5, '', 'not a number'],
  [true, '', 'not a boolean'],
  [[], '', 'not an array'],
  [{ html: null }, '.html', 'must be an HTML string, not null'],
  [{ html: 5 }, '.html', 'not a number'],
  [{ html: ['x'] }, '.html', 'not an array'],
  [{ html: {} }, '.html', 'not an object'],
  [{ html: false }, '.html', 'not a boolean'],
  [{ html: 'x'.repeat(65_537) }, '.html', 'must be at most 65536 characters long, not 65537'],
  [{ html: '😀'.repeat(65_537) }, '.html', 'must be at most 65536 characters long'],
  [{ height: null }, '.height', 'must be a length string such as `15mm`, not null'],
  [{ height: 15 }, '.height', 'not a number'],
  [{ height: ['15mm'] }, '.height', 'not an array'],
  ...['-1', '-1mm', '15 mm', '1em', '5%', '', 'auto', '1,5cm', '15MM', 'NaN'].map(
    (height): Row => [
      { height },
      '.height',
      `must be a length of 0 or more such as \`10mm\`, \`0.5in\` or \`20px\``,
    ],
  ),
];

const HTML: Row[] = (
  [
    ['<img src="https://a.test/logo.png">', 'must not load the image "https://a.test/logo.png"'],
    ['<img src=logo.png>', 'Embed it as a `data:` URL'],
    ['<img src="//a.test/b">', 'must not load the image "//a.test/b"'],
    ['<img srcset="https://a.test/b 2x">', 'must not load the image'],
    ['<svg><image xlink:href="https://a.test/b"/></svg>', 'must not load the image'],
    ['<input type=image src=https://a.test/b>', 'must not load the image'],
    ['<table background="b.png"></table>', 'must not load the image "b.png"'],
    ['<p style="background: url( b.png )">', 'must not load the image "b.png"'],
    ['<style>p { background: URL("https://a.test/b") }</style>', 'must not load the image'],
    ['<img src="data:image/png;base64,AAAA"><img src=""><img>', undefined],
    ['<svg><rect fill="url(#a)"/><image href="data:,"/></svg>', undefined],
    ['<p style="background:url(data:image/svg+xml,%3Csvg/%3E)">', undefined],
    ['<style>@font-face { font-family: f; src: url(https://a.test/f) }</style>', undefined],
    ['<style>@import url(https://a.test/a.css);</style>', undefined],
    ['<a href="https://a.test/">a.test</a>', undefined],
    ['{{date}}', `must not contain "{{date}}"; ${PLACEHOLDERS}`],
    ['{{title}}', 'must not contain "{{title}}"'],
    ['{{url}}', 'must not contain "{{url}}"'],
    ['{{}}', 'must not contain "{{}}"'],
    ['{{ }}', 'must not contain "{{ }}"'],
    ['{{Page}}', 'must not contain "{{Page}}"'],
    ['{{PAGE}}', 'must not contain "{{PAGE}}"'],
    ['{{pages}}', 'must not contain "{{pages}}"'],
    ['{{page}', undefined],
    ['{{page number}}', 'must not contain "{{page number}}"'],
    ['{{page}} of {{totalPages}}', 'must not contain "{{totalPages}}"'],
    ['{{{page}}}', 'must not contain "{{{page}}"'],
    ['{{#if page}}x{{/if}}', 'must not contain "{{#if page}}"'],
    ['<p>{{name}}</p>', 'must not contain "{{name}}"'],
    ['&#123;&#123;date}}', 'must not contain "{{date}}"'],
    ['{{<b>page</b>}}', 'must not split "{{…page…}}" across elements'],
    ['{{<!-- -->page}}', 'must not split "{{…page}}" across elements'],
    ['<p title="{{page}}">x</p>', 'must not contain "{{page}}" in the attribute "title"'],
    ['<p title="&#123;{total}}">x</p>', 'must not contain "{{total}}" in the attribute "title"'],
    ['<p {{page}}>x</p>', 'must not contain "{{page}}" in the attribute "{{page}}"'],
    [
      '<style>p::after { content: "{{page}}" }</style>',
      'must not contain "{{page}}" inside <style>',
    ],
    ['<script>{{total}}</script>', 'must not contain "{{total}}" inside <script>'],
    ['<textarea>{{page}}</textarea>', 'must not contain "{{page}}" inside <textarea>'],
    ['<svg><text>{{page}}</text></svg>', 'must not contain "{{page}}" inside <svg>'],
    ['<svg><svg></svg><text>{{page}}</text></svg>', 'must not contain "{{page}}" inside <svg>'],
    ['<svg><![CDATA[{{page}}]]></svg>', 'must not contain "{{page}}" inside <svg>'],
    ['<span class="date"></span>', only('date')],
    ['<span class="title"></span>', only('title')],
    ['<span class="url"></span>', only('url')],
    ['<span class=url>', only('url')],
    ["<span class='small\n\turl\fx'></span>", only('url')],
    ['<SPAN CLASS="date"></SPAN>', only('date')],
    ['<span class="&#100;ate"></span>', only('date')],
    ['<svg><text class="title"></text></svg>', only('title')],
    ['<b><i><u><span class="pageNumber date"></span></u></i></b>', only('date')],
  ] as [string, string | undefined][]
).flatMap(([html, says]) => (says === undefined ? [] : [[{ html }, '.html', says]]));

describe('invalid headers and footers', () => {
  for (const field of ['header', 'footer']) {
    for (const [value, member, says] of [...SHAPES, ...HTML]) {
      it(`rejects the ${field} ${shown(value)}`, () => {
        const error = requestError({ html: 'x', [field]: value });
        expect(error.code).to.equal('validation_error');
        expect(error.message)
          .to.match(new RegExp(`^\`${field}${member}\` must `))
          .and.to.contain(says);
      });
    }

    for (const [typed, meant] of [
      ['hieght', 'height'],
      ['HTML', 'html'],
      ['Height', 'height'],
    ] as const) {
      it(`rejects ${field}.${typed} and suggests ${field}.${meant}`, () => {
        expect(requestError({ html: 'x', [field]: { [typed]: '1' } }).message).to.equal(
          `\`${field}.${typed}\` is not a valid field. Did you mean \`${field}.${meant}\`?`,
        );
      });
    }
  }
});

describe('the height of headers and footers', () => {
  const ROOMS: [body: object, message: string][] = [
    [
      { header: { height: '11in' } },
      '`header.height` and `margin.bottom` (default 0.4in) leave less than 0.5 inches of a page that is 11.69 inches tall.',
    ],
    [
      { footer: { height: '11in' }, margin: { top: '0.3in' } },
      '`margin.top` and `footer.height` leave less than 0.5 inches of a page that is 11.69 inches tall.',
    ],
    [
      { header: { height: '6in' }, footer: { height: '5.5in' } },
      '`header.height` and `footer.height` leave less than 0.5 inches',
    ],
    [{ header: { height: '15' } }, '`15` is 15 inches. Did you mean `15px`?'],
    [{ header: { height: '6in' }, margin: { top: '11in' } }, '`margin.top` and `margin.bottom`'],
    [{ single_page: true, header: { height: '199.2in' } }, '`header.height` and `margin.bottom`'],
    [
      { format: '5x2', header: { height: '1in' }, footer: { height: '0.6in' } },
      'a page that is 2 inches tall',
    ],
  ];

  for (const [body, message] of ROOMS) {
    it(`is too large in ${shown(body)}`, () => {
      const error = requestError({ html: 'x', ...body });
      expect(error.code).to.equal('validation_error');
      expect(error.message).to.contain(message);
    });
  }
});
