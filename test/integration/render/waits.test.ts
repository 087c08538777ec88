// @proves finish_animations, wait_delay, timeout, javascript, wait_for_selector, wait_for_expression, order-of-waits, page_timeout

import { expect } from 'chai';
import { html, type Installation, installation } from '../../support/installation.ts';
import { pdfText } from '../../support/pdf.ts';
import { startTogether } from '../../support/together.ts';

describe('waits', () => {
  let pressroom: Installation;
  before(async () => {
    pressroom = await installation({
      plan: 'many',
      env: {
        PRESSROOM_RENDER_TIMEOUT: '10s',
        // For renders that end at the limit at the same time.
        PRESSROOM_PLANS: 'many=30',
        PRESSROOM_SLOTS: '15',
      },
    });
  });
  after(() => pressroom.stop());

  const print = (body: object) => pressroom.pdf(body);
  const renderError = (body: object) => pressroom.renderError(body);

  const later = (script: string) => html(`<script>${script}</script>`);
  it('prints at the load event when no wait is set', async () => {
    const page = html(
      '<img src="data:image/svg+xml,%3Csvg xmlns=\'http://www.w3.org/2000/svg\'/%3E" onload="document.body.append(\'LOADED\')">',
    );
    expect(await pdfText(await print({ html: page }))).to.include('LOADED');
  });
  const add =
    'const b = document.createElement("b"); b.id = "late"; b.textContent = "LATE"; document.body.append(b)';
  it('waits for a selector', async () => {
    expect(
      await pdfText(
        await print({
          html: later(`setTimeout(() => { ${add} }, 400)`),
          wait_for_selector: '#late',
        }),
      ),
    ).to.include('LATE');
  });
  it('waits for an expression and for a promise', async () => {
    const page = later(`setTimeout(() => { ${add}; window.done = true }, 400)`);
    expect(
      await pdfText(await print({ html: page, wait_for_expression: 'window.done' })),
    ).to.include('LATE');
    expect(
      await pdfText(
        await print({
          html: page,
          wait_for_expression: 'new Promise(r => setTimeout(r, 500, true))',
        }),
      ),
    ).to.include('LATE');
  });
  it('polls an expression that throws or rejects until it is truthy', async () => {
    const page = later(`setTimeout(() => { ${add}; window.ok = () => true }, 400)`);
    expect(await pdfText(await print({ html: page, wait_for_expression: 'ok()' }))).to.include(
      'LATE',
    );
    expect(
      await pdfText(
        await print({ html: page, wait_for_expression: 'window.ok ? ok() : Promise.reject(1)' }),
      ),
    ).to.include('LATE');
  });
  const LATER = 'new Promise(resolve => setTimeout(resolve, 100, "LATER"))';
  const awaiting: [string, string][] = [
    ['awaits at the top level', `const word = await ${LATER}; document.body.append(word)`],
    ['awaits a call in parentheses', `await (async () => document.body.append(await ${LATER}))()`],
    ['loops over promises', `for await (const word of [${LATER}]) document.body.append(word)`],
    [
      'awaits inside a function whose promise is its value',
      `async function add() { document.body.append(await ${LATER}) }\nadd()`,
    ],
  ];
  for (const [what, javascript] of awaiting)
    it(`waits for a script that ${what}`, async () => {
      expect(await pdfText(await print({ html: html('x'), javascript }))).to.include('LATER');
    });
  it('waits for a delay', async () => {
    expect(
      await pdfText(
        await print({ html: later(`setTimeout(() => { ${add} }, 300)`), wait_delay: '600ms' }),
      ),
    ).to.include('LATE');
  });
  describe('with finish_animations', () => {
    const style = `<style>
      @keyframes appear { from { visibility: hidden } to { visibility: visible } }
      @keyframes blink { from, to { visibility: visible } }
      .in { animation: appear 60s steps(1, end) both }
      .endless { animation: blink 1s infinite }
      .moved { visibility: hidden; transition: visibility 60s steps(1, end) }
    </style>`;
    const page = html(
      `${style}<p class=in>FADED</p><p class=endless>BLINKS</p><p class=moved>MOVED</p>
      <iframe srcdoc='${style}<p class=in>FRAMED'></iframe>
      <script>document.body.offsetTop; document.querySelector('.moved').style.visibility = 'visible'</script>`,
    );

    it('prints animations and transitions at their end, in frames of the same origin too', async () => {
      const text = await pdfText(await print({ html: page, finish_animations: true }));
      for (const word of ['FADED', 'BLINKS', 'MOVED', 'FRAMED']) expect(text).to.include(word);
    });
    it('prints them as they are by default', async () => {
      const text = await pdfText(await print({ html: page }));
      expect(text).to.include('BLINKS').and.not.include('FADED').and.not.include('FRAMED');
    });
    it('finishes the animations of a static document', async () => {
      const html = `${style}<p class=in>FADED</p>`;
      expect(await pdfText(await print({ html }))).to.not.include('FADED');
      expect(await pdfText(await print({ html, finish_animations: true }))).to.include('FADED');
    });
  });

  it('waits for the selector, the expression and the delay in this order', async () => {
    const page = later(
      `setTimeout(() => { ${add} }, 100); setTimeout(() => { document.body.append("SECOND"); window.second = 1 }, 300)`,
    );
    const text = await pdfText(
      await print({
        html: page,
        wait_for_selector: '#late',
        wait_for_expression: 'window.second',
        wait_delay: '10ms',
      }),
    );
    expect(text).to.include('LATE').and.to.include('SECOND');
  });

  const failures: [string, object, RegExp, string | undefined][] = [
    [
      'a selector that never matches',
      { wait_for_selector: '#never' },
      /waiting for `wait_for_selector` "#never" to match an element\. No element matched it\.$/,
      'page_timeout',
    ],
    [
      'an expression that stays false',
      { wait_for_expression: '1 > 2' },
      /waiting for `wait_for_expression` "1 > 2" to be truthy\. Its last value was false\.$/,
      'page_timeout',
    ],
    [
      'a promise that never settles',
      { wait_for_expression: 'new Promise(() => {})' },
      /to be truthy\. It never returned a value\.$/,
      'page_timeout',
    ],
    [
      'an await in a script that never ends',
      { javascript: 'await new Promise(() => {})' },
      /while waiting for `javascript` to finish and its promise to settle/,
      'page_timeout',
    ],
    [
      'an expression that throws each time',
      { wait_for_expression: 'foo.bar' },
      /"foo\.bar" to be truthy\. It last threw: ReferenceError: foo is not defined$/,
      'page_timeout',
    ],
    [
      'an expression that throws a text of the page',
      { wait_for_expression: `(() => { throw '\\u0007<b>' + 'x'.repeat(1e6) + '\\nsecond' })()` },
      /It last threw: <b>x{190,200}…$/,
      'page_timeout',
    ],
    [
      'an expression that rejects with an object',
      { wait_for_expression: 'Promise.reject({ a: 1 })' },
      /It last threw: \S.{0,200}$/,
      'page_timeout',
    ],
    [
      'an expression that throws a SyntaxError at run time',
      { wait_for_expression: 'JSON.parse("{")' },
      /It last threw: SyntaxError: /,
      'page_timeout',
    ],
    [
      'an expression with several empty values',
      { wait_for_expression: 'window.nothing' },
      /Its last value was undefined\.$/,
      'page_timeout',
    ],
    [
      'an invalid selector',
      { wait_for_selector: ']oops[' },
      /wait_for_selector.*\]oops\[/,
      undefined,
    ],
    [
      'an expression that is not valid JavaScript',
      { wait_for_expression: 'a b c' },
      /wait_for_expression.*SyntaxError/,
      undefined,
    ],
  ];
  const failed = startTogether(failures, ([, options]) =>
    renderError({ html: html('x'), ...options }),
  );
  for (const row of failures) {
    const [what, , message, reason] = row;
    it(`names the field in the error for ${what}`, async () => {
      const error = await failed(row);
      expect(error).to.include(
        reason
          ? { status: 502, code: 'render_failed', reason }
          : { status: 400, code: 'validation_error' },
      );
      expect(error.message).to.match(message);
    });
  }

  const limits: [what: string, options: object, message: RegExp][] = [
    [
      'its own limit',
      { timeout: '5s' },
      /^The render took longer than its `timeout` of 5 s while waiting for `wait_for_selector`/,
    ],
    [
      'the limit of the installation',
      {},
      /^The render took longer than this installation's limit of 10 s while waiting for/,
    ],
    [
      'its own limit, which does not include the delay',
      { timeout: '5.5s', wait_delay: '100ms' },
      /^The render took longer than its `timeout` of 5\.5 s plus `wait_delay` while/,
    ],
  ];
  const exceeded = startTogether(limits, ([, options]) =>
    renderError({ html: html('x'), wait_for_selector: '#no', ...options }),
  );
  for (const row of limits) {
    const [what, , message] = row;
    it(`names the limit when a render exceeds ${what}`, async () => {
      const error = await exceeded(row);
      expect(error).to.include({ status: 502, reason: 'page_timeout' });
      expect(error.message).to.match(message);
    });
  }
  it('does not count the delay toward the timeout', async () => {
    const page = later(`setTimeout(() => { ${add} }, 1_200)`);
    expect(
      await pdfText(await print({ html: page, timeout: '1s', wait_delay: '1.5s' })),
    ).to.include('LATE');
  });
  it('rejects a timeout over the limit of the installation', async () => {
    const error = await renderError({ html: html('x'), timeout: '10.5s' });
    expect(error).to.include({ status: 400, code: 'validation_error' });
    expect(error.message).to.equal(
      '`timeout` must be a duration from 1s to 10s, the limit of this installation, such as `1.5s`, not "10.5s".',
    );
  });

  it('names the load event in the timeout error of a page that hangs', async () => {
    const error = await renderError({
      html: html('<script>while (true);</script>'),
      timeout: '2s',
    });
    expect(error).to.include({ status: 502, reason: 'page_timeout' });
    expect(error.message).to.include('load event').and.to.include('2 s');
  });
  it('works on a page with dialogs and overwritten globals', async () => {
    const page = html(
      '<script>alert(1); if (confirm("?")) document.write("YES"); window.Promise = undefined; document.querySelector = null</script><form name="fonts"></form><i id="x">X</i>',
    );
    expect(await pdfText(await print({ html: page, wait_for_selector: '#x' }))).to.include('YES');
  });
});
