// @proves html, url, unknown-fields, paper_width, paper_height, margin, single_page
// @proves validation_error

import { expect } from 'chai';
import { FIELD_NAMES } from '../../../../common/contract/fields.ts';
import { FOREIGN_NAMES } from '../../../../common/contract/foreign-fields.ts';
import { requestError, shown } from '../../../support/request-error.ts';

const COMBINATIONS: [body: object, names: string[]][] = [
  [{}, ['html', 'url']],
  [{ format: 'A4' }, ['html', 'url']],
  [{ html: 'x', url: 'https://example.com/' }, ['html', 'url']],
  [{ html: 'x', paper_width: '5in' }, ['paper_width', 'paper_height']],
  [{ html: 'x', paper_height: '5in' }, ['paper_height', 'paper_width']],
  [
    { html: 'x', paper_width: '5in', paper_height: '5in', format: '80mmxauto' },
    ['paper_width', 'paper_height', 'format'],
  ],
  [
    { html: 'x', paper_width: '5in', paper_height: '5in', single_page: true },
    ['paper_width', 'paper_height', 'single_page'],
  ],
  [{ html: 'x', landscape: true, format: '80mmxauto' }, ['landscape', 'format']],
  [{ html: 'x', single_page: false, format: '80mmxauto' }, ['single_page', 'format']],
  [{ html: 'x', pages: '1', single_page: true }, ['pages', 'single_page']],
  [{ html: 'x', pages: '1-', format: '800xauto' }, ['pages', 'format']],
  [{ html: 'x', margin: { left: '4.1in', right: '4.1in' } }, ['margin.left', 'margin.right']],
  [{ html: 'x', margin: { top: '6in', bottom: '6in' } }, ['margin.top', 'margin.bottom']],
  [{ html: 'x', margin: { top: '11.2in' } }, ['margin.top', 'margin.bottom']],
  [{ html: 'x', format: '1x1', margin: { left: '0.11in' } }, ['margin.left', 'margin.right']],
  [{ html: 'x', format: '80mmxauto', margin: { left: '70mm' } }, ['margin.left', 'margin.right']],
  [{ html: 'x', format: '80mmxauto', margin: { top: '199.2in' } }, ['margin.top', 'margin.bottom']],
  [
    { html: 'x', format: '10x3', landscape: true, margin: { left: '2in', right: '2in' } },
    ['margin.left', 'margin.right'],
  ],
  [
    { html: 'x', paper_width: '3in', paper_height: '10in', margin: { left: '2in', right: '2in' } },
    ['margin.left', 'margin.right'],
  ],
];

const UNKNOWN: [body: object, field: string, nearest?: string][] = [
  [{ printBackground: true }, 'printBackground', 'print_background'],
  [{ 'print-background': true }, 'print-background', 'print_background'],
  [{ print_backgruond: true }, 'print_backgruond', 'print_background'],
  [{ background: true }, 'background', 'print_background'],
  [{ landscpae: true }, 'landscpae', 'landscape'],
  [{ HTML: 'x' }, 'HTML', 'html'],
  [{ formt: 'A4' }, 'formt', 'format'],
  [{ waitForSelector: 'a' }, 'waitForSelector', 'wait_for_selector'],
  [{ network_idle: true }, 'network_idle', 'wait_for_network_idle'],
  [{ margin: { tpo: '1in' } }, 'margin.tpo', 'margin.top'],
  [{ margin: { Left: '1in' } }, 'margin.Left', 'margin.left'],
  [{ margin: { x: '1in' } }, 'margin.x'],
  [{ preferCSSPageSize: true }, 'preferCSSPageSize', 'prefer_css_page_size'],
  [{ banana: 1 }, 'banana'],
  [{ constructor: 1 }, 'constructor'],
  [{ toString: 1 }, 'toString'],
  [{ '': 1 }, ''],
  [JSON.parse('{"__proto__": {"landscape": true}}'), '__proto__'],
  [{ margin: JSON.parse('{"__proto__": {"top": "1in"}}') }, 'margin.__proto__'],
];

const FOREIGN: [name: string, advice: string][] = [
  ['displayHeaderFooter', 'Set `header` and `footer`.'],
  ['headerTemplate', 'Use `header.html`.'],
  ['footer_html', 'Use `footer.html`.'],
  ['marginTop', 'Use `margin.top`.'],
  ['margin_left', 'Use `margin.left`.'],
  ['paperSize', 'Use `format`.'],
  ['width', 'Use `paper_width`.'],
  ['orientation', 'Use `landscape`.'],
  ['disable_backgrounds', 'Use `print_background`.'],
  ['pageRanges', 'Use `pages`.'],
  ['emulatedMediaType', 'Use `emulate_media`.'],
  ['failOnHttpStatusCodes', 'Use `raise_for_status`.'],
  ['headers', 'Use `extra_http_headers`.'],
  ['httpCredentials', 'Use `auth`.'],
  ['addStyleTag', 'Use `css`.'],
  ['addScriptTag', 'Use `javascript`.'],
  ['waitDelay', 'Use `wait_delay`.'],
  ['javascript_delay', 'Use `wait_delay`.'],
  ['waitForFunction', 'Use `wait_for_expression`.'],
  ['waitUntil', 'Use `wait_for_network_idle`.'],
  ['test', 'Use `sandbox`.'],
  ['title', 'Use `metadata.title`.'],
  ['source', 'Use `html`.'],
  ['webhook_url', 'Webhooks are not supported.'],
  ['async', 'Where asynchronous renders are on, submit them to `POST /v1/renders`.'],
  [
    'viewport',
    'It is not supported: the page is laid out for the width of the paper. Set `format`, or `zoom`.',
  ],
  ['useCssPageSize', 'Use `prefer_css_page_size`.'],
  ['userPassword', 'It is not supported. Encrypt the PDF with another program.'],
];

describe('invalid render requests', () => {
  for (const [body, names] of COMBINATIONS) {
    it(`rejects the combination ${shown(body)}`, () => {
      const error = requestError(body);
      expect(error.code).to.equal('validation_error');
      for (const name of names) expect(error.message).to.contain(`\`${name}\``);
    });
  }

  for (const [body, field, nearest] of UNKNOWN) {
    it(`rejects ${shown(body)} by field name${nearest ? ` and suggests ${nearest}` : ''}`, () => {
      const error = requestError(
        Object.defineProperties({ html: 'x' }, Object.getOwnPropertyDescriptors(body)),
      );
      expect(error.code).to.equal('validation_error');
      expect(error.message).to.equal(
        `\`${field}\` is not a valid field${nearest ? `. Did you mean \`${nearest}\`?` : '. See /docs for the list of fields.'}`,
      );
    });
  }

  for (const [name, advice] of FOREIGN) {
    it(`rejects ${name} and says what to use instead`, () => {
      const error = requestError({ html: 'x', [name]: 1 });
      expect(error.code).to.equal('validation_error');
      expect(error.message).to.equal(`\`${name}\` is not a valid field. ${advice}`);
    });
  }

  it('suggests only fields that exist', () => {
    expect(FIELD_NAMES).to.include.members(Object.keys(FOREIGN_NAMES));
  });

  for (const body of [null, undefined, [], [{ html: 'x' }], 'x', 1, true]) {
    it(`rejects the body ${shown(body)}`, () => {
      const error = requestError(body);
      expect(error.code).to.equal('validation_error');
      expect(error.message).to.match(
        /^The request must be a JSON object with `html` or `url`, not (null|an array|a string|a number|a boolean|a?n? ?undefined)\.$/,
      );
    });
  }
});

describe('validation messages', () => {
  it('suggest pixels for a large margin without a unit', () => {
    expect(requestError({ html: 'x', margin: { left: '20' } }).message).to.contain(
      '`20` is 20 inches. Did you mean `20px`?',
    );
    expect(requestError({ html: 'x', margin: '20' }).message).to.equal(
      '`margin` leaves less than 0.5 inches of a page that is 8.268 inches wide. `20` is 20 inches. Did you mean `20px`?',
    );
    expect(requestError({ html: 'x', margin: { left: '20in' } }).message).not.to.contain(
      'Did you mean',
    );
    expect(requestError({ html: 'x', margin: { left: '4', right: '4' } }).message).not.to.contain(
      'Did you mean',
    );
  });

  it('name the default margins when a small page has no space for them', () => {
    expect(requestError({ html: 'x', format: '1x5' }).message).to.equal(
      '`margin.left` and `margin.right` (default 0.4in) leave less than 0.5 inches of a page that is 1 inches wide.',
    );
  });

  it('name at most five invalid fields, each once', () => {
    const body = {
      html: '',
      format: 'B5',
      landscape: 1,
      scale: 9,
      zoom: 9,
      pages: '0',
      wait_delay: 'x',
      margin: { top: 1 },
    };
    const { message } = requestError(body);
    expect(message.match(/`(\w+)` must/g)).to.deep.equal([
      '`html` must',
      '`format` must',
      '`landscape` must',
      '`scale` must',
      '`zoom` must',
    ]);
  });

  it('are short for any request', () => {
    const long = 'y'.repeat(1_000_000);
    expect(
      requestError({ html: 'x', format: long, wait_delay: long, [long]: 1 }).message.length,
    ).to.be.below(1_000);
    const many = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, index) => [`unknown_${index}`, 1]),
    );
    expect(
      requestError({ html: 'x', ...many }).message.match(/is not a valid field/g),
    ).to.have.length(5);
  });

  it('escape control characters and lone surrogates', () => {
    const { message } = requestError({ html: 'x', format: 'A4\r\n\ud800', 'a`b\n': 1 });
    expect(message)
      .to.contain('not "A4\\r\\n\ufffd"')
      .and.to.contain("`a'b\\n` is not a valid field");
  });

  it('never quote a password or the query of a URL', () => {
    for (const url of [
      'http://me:hunter2@example.com/',
      'http://[x]/?token=hunter2',
      'http://10.0.0.1/?token=hunter2',
      'http://example.com:22/?hunter2',
    ]) {
      expect(requestError({ url }).message).not.to.contain('hunter2');
    }
  });

  it('report an invalid field before a blocked address', () => {
    expect(requestError({ url: 'http://10.0.0.1/', scale: 5 }).code).to.equal('validation_error');
  });

  it('name the additional ports of an intranet account', () => {
    const rules = { ports: [443], intranet: true, allowPorts: [9_000], maxTimeoutMs: 60_000 };
    expect(requestError({ url: 'http://10.0.0.1/' }, rules as never).message).to.equal(
      '`url` must use one of the ports 443, 9000, not 80.',
    );
  });

  it('do not name the intranet ports to other accounts', () => {
    const rules = { ports: [443], intranet: false, allowPorts: [9_000], maxTimeoutMs: 60_000 };
    expect(requestError({ url: 'http://example.com:9000/' }, rules as never).message).to.equal(
      '`url` must use one of the ports 443, not 9000.',
    );
  });
});
