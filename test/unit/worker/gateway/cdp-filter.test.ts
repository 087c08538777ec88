import { expect } from 'chai';
import { filterFrame } from '../../../../worker/gateway/cdp-filter.ts';

const SESSION = 'A1B2C3D4E5F60718293A4B5C6D7E8F90';
const FRAME = '0123456789ABCDEF0123456789ABCDEF';
const filter = (value: unknown) =>
  filterFrame(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)), SESSION);
const forwarded = (value: unknown) => {
  const filtered = filter(value);
  if (filtered.kind !== 'forward') throw new Error(`${filtered.kind}: ${JSON.stringify(filtered)}`);
  return Buffer.concat(filtered.parts).toString();
};

describe('the filter of CDP methods', () => {
  it('forwards a listed method in the session of the slot', () => {
    expect(
      JSON.parse(forwarded({ id: 7, method: 'Page.printToPDF', params: { scale: 1 } })),
    ).to.deep.equal({
      id: 7,
      method: 'Page.printToPDF',
      params: { scale: 1 },
      sessionId: SESSION,
    });
  });

  it('replaces a session of the client with that of the slot', () => {
    const frame = `{"id":1,"method":"Page.printToPDF","sessionId":"other","params":{},"sessionId":"another"}`;
    expect(forwarded(frame)).to.equal(
      `{"id":1,"method":"Page.printToPDF","params":{},"sessionId":"${SESSION}"}`,
    );
  });

  it('serialises frames again, so that a duplicate key has one meaning', () => {
    expect(
      filter('{"id":1,"method":"Page.printToPDF","method":"Browser.close","params":{}}').kind,
    ).to.equal('rejected');
    expect(
      forwarded('{"id":1,"method":"Browser.close","method":"Page.printToPDF"}'),
    ).to.not.include('Browser');
  });

  const rejected = [
    'Browser.close',
    'Browser.setDownloadBehavior',
    'Target.createTarget',
    'Target.attachToTarget',
    'Target.exposeDevToolsProtocol',
    'Target.sendMessageToTarget',
    'Page.setDownloadBehavior',
    'Page.addScriptToEvaluateOnNewDocument',
    'Network.loadNetworkResource',
    'Network.setExtraHTTPHeaders',
    'Network.setCookies',
    'Network.getCookies',
    'Fetch.fulfillRequest',
    'Fetch.failRequest',
    'Fetch.continueResponse',
    'Fetch.getResponseBody',
    'Fetch.takeResponseBodyAsStream',
    'Runtime.addBinding',
    'constructor',
    'IO.resolveBlob',
    'DOM.setFileInputFiles',
    'SystemInfo.getInfo',
    'Storage.getCookies',
    'Tracing.start',
    'page.navigate',
    'Page.navigate ',
    '__proto__',
    // of the previous release, whose API sends it only to workers that announce support
    'Pressroom.defer',
  ];
  for (const method of rejected)
    it(`rejects ${method}`, () => {
      expect(filter({ id: 1, method, params: {} })).to.include({ kind: 'rejected', id: 1 });
    });

  const places: [string, boolean][] = [
    ['http://example.com/', true],
    ['HTTPS://example.com/', true],
    ['about:blank', true],
    ['about:srcdoc', false],
    ['file:///etc/passwd', false],
    [' file:///etc/passwd', false],
    ['FILE:///etc/passwd', false],
    ['view-source:http://example.com/', false],
    ['chrome://gpu', false],
    ['devtools://devtools/bundled/inspector.html', false],
    ['javascript:alert(1)', false],
    ['data:text/html,hello', false],
    ['blob:http://example.com/1', false],
    ['ftp://example.com/', false],
    ['filesystem:http://example.com/temporary/x', false],
    ['', false],
  ];
  for (const [url, allowed] of places)
    it(`${allowed ? 'allows' : 'rejects'} a navigation to ${url || 'an empty URL'}`, () => {
      expect(filter({ id: 1, method: 'Page.navigate', params: { url } }).kind).to.equal(
        allowed ? 'forward' : 'rejected',
      );
    });

  it('rejects a navigation whose url is not a string', () => {
    for (const url of [undefined, null, 1, ['http://a/'], { href: 'http://a/' }])
      expect(filter({ id: 1, method: 'Page.navigate', params: { url } }).kind).to.equal('rejected');
  });

  const header = { name: 'X-Tenant', value: 'blue' };
  const plain: [string, object][] = [
    ['Fetch.enable', { patterns: [{ urlPattern: 'http*' }], handleAuthRequests: true }],
    ['Fetch.continueRequest', { requestId: 'interception-job-1.0' }],
    ['Fetch.continueRequest', { requestId: 'interception-job-1.0', headers: [header] }],
    [
      'Fetch.continueWithAuth',
      { requestId: 'interception-job-1.0', authChallengeResponse: { response: 'CancelAuth' } },
    ],
    [
      'Fetch.continueWithAuth',
      {
        requestId: '1',
        authChallengeResponse: { response: 'ProvideCredentials', username: 'a', password: 'b' },
      },
    ],
    [
      'Network.setCookie',
      {
        name: 'a',
        value: '1',
        url: 'https://a.example/',
        path: '/',
        secure: true,
        httpOnly: false,
        sameSite: 'None',
      },
    ],
    ['Network.setCookie', { name: 'a', value: '1', domain: '.a.example' }],
    ['Page.setBypassCSP', { enabled: true }],
    ['Runtime.enable', {}],
    ['Runtime.disable', {}],
  ];
  for (const [method, params] of plain)
    it(`forwards ${method} with allowed parameters: ${Object.keys(params)}`, () => {
      expect(JSON.parse(forwarded({ id: 1, method, params }))).to.deep.equal({
        id: 1,
        method,
        params,
        sessionId: SESSION,
      });
    });

  const wrong: [string, string, object][] = [
    [
      'sends a request elsewhere',
      'Fetch.continueRequest',
      { requestId: '1', url: 'file:///etc/passwd' },
    ],
    [
      'sends a request elsewhere, beside headers',
      'Fetch.continueRequest',
      { requestId: '1', headers: [header], url: 'http://127.0.0.1/' },
    ],
    ['changes what a request does', 'Fetch.continueRequest', { requestId: '1', method: 'DELETE' }],
    [
      'changes what a request carries',
      'Fetch.continueRequest',
      { requestId: '1', postData: 'eA==' },
    ],
    ['holds an answer back', 'Fetch.continueRequest', { requestId: '1', interceptResponse: true }],
    [
      'has headers that are no list',
      'Fetch.continueRequest',
      { requestId: '1', headers: { 'X-Tenant': 'blue' } },
    ],
    [
      'has a header with more than a name and a value',
      'Fetch.continueRequest',
      { requestId: '1', headers: [{ ...header, url: 'x' }] },
    ],
    [
      'has a header whose value is no text',
      'Fetch.continueRequest',
      { requestId: '1', headers: [{ ...header, value: 1 }] },
    ],
    [
      'holds answers back',
      'Fetch.enable',
      { patterns: [{ urlPattern: '*', requestStage: 'Response' }] },
    ],
    ['has a pattern that is no object', 'Fetch.enable', { patterns: ['*'] }],
    [
      'has an answer that is no object',
      'Fetch.continueWithAuth',
      { requestId: '1', authChallengeResponse: 'CancelAuth' },
    ],
    [
      'sets a cookie for a partition',
      'Network.setCookie',
      { name: 'a', value: '1', domain: 'a.example', partitionKey: {} },
    ],
    [
      'sets a cookie whose value is no text',
      'Network.setCookie',
      { name: 'a', value: { b: 1 }, domain: 'a.example' },
    ],
    ['has a policy that is not a boolean', 'Page.setBypassCSP', { enabled: 'yes' }],
    ['has an unknown parameter', 'Runtime.enable', { x: 1 }],
  ];
  for (const [what, method, params] of wrong)
    it(`rejects a ${method} that ${what}`, () => {
      expect(filter({ id: 1, method, params })).to.include({ kind: 'rejected', id: 1, method });
    });

  it('rejects a parameter with the name of an inherited property', () => {
    for (const name of ['__proto__', 'constructor', 'toString'])
      expect(filter(`{"id":1,"method":"Runtime.enable","params":{"${name}":{}}}`)).to.include({
        kind: 'rejected',
      });
  });

  const garbage = [
    '',
    'x',
    '[]',
    'null',
    '1',
    '"a"',
    '{}',
    '{"id":1}',
    '{"method":"Page.printToPDF"}',
    '{"id":"1","method":"IO.read"}',
  ];
  const ids = ['0', '-1', '1.5', '1e9', '1000000000', 'null'];
  for (const frame of [
    ...garbage,
    ...ids.map(id => `{"id":${id},"method":"IO.read","params":{}}`),
    '{"id":1,"method":"IO.read","params":[]}',
  ])
    it(`treats ${frame || 'an empty frame'} as garbage`, () => {
      expect(filter(frame).kind).to.equal('garbage');
    });

  it('treats a frame that is nested too deeply as garbage', () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const)
      for (const [depth, kind] of [
        [99, 'forward'],
        [100, 'garbage'],
        [300, 'garbage'],
        [150_000, 'garbage'],
      ] as const) {
        const command = `"method":"Page.printToPDF","params":{"a":${open.repeat(depth)}1${close.repeat(depth)}}`;
        expect(filter(`{"id":1,${command}}`).kind, `${depth} ${open}`).to.equal(kind);
      }
  });

  it('does not forward commands to the gateway', () => {
    for (const method of ['Pressroom.end', 'Pressroom.open', 'Pressroom.ping', 'Pressroom.still'])
      expect(filter({ id: 3, method, params: { ticket: 'x' } })).to.deep.equal({
        kind: 'own',
        id: 3,
        method,
        params: { ticket: 'x' },
      });
  });

  describe('of large frames', () => {
    const html = `${'<p class=\\"x\\">line \\\\ and \\u00e9</p>\\n'.repeat(40_000)}\\\\`;
    const big = (params: string) =>
      `{"id":12,"method":"Page.setDocumentContent","params":${params}}`;

    it('forwards html of any size without parsing it', () => {
      const text = forwarded(big(`{"frameId":"${FRAME}","html":"${html}"}`));
      expect(JSON.parse(text)).to.deep.equal({
        id: 12,
        method: 'Page.setDocumentContent',
        params: { frameId: FRAME, html: JSON.parse(`"${html}"`) },
        sessionId: SESSION,
      });
    });

    const inside = (text: string | Buffer) => {
      const [before, after] = big(`{"frameId":"${FRAME}","html":"|"}`).split('|');
      return filterFrame(
        Buffer.concat([Buffer.from(before!), Buffer.from(text as string), Buffer.from(after!)]),
        SESSION,
      );
    };
    const long = 'x'.repeat(2 ** 20);

    it('forwards every JSON escape and text of any script', () => {
      const filtered = inside(
        `${long}\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u00e9 \\uABCD é 日 😀 \u007f \u2028`,
      );
      expect(filtered.kind).to.equal('forward');
    });

    const noJson: [string, string | Buffer][] = [
      ['an escape that JSON does not know', '\\x22'],
      ['an escape of three digits', '\\u12g4'],
      ['an escape that the end cuts off', '\\u12'],
      ['an escape of a line break', '\\\n'],
      ['a line break', '\n'],
      ['a tab', '\t'],
      ['the last of the control characters', '\u001f'],
      ['a byte that no text has', Buffer.from([0xff])],
      ['half a character', Buffer.from([0xe2, 0x82])],
      ['half of a surrogate pair', Buffer.from([0xed, 0xa0, 0x80])],
      ['a character that is longer than it need be', Buffer.from([0xc0, 0xa2])],
    ];
    for (const [what, text] of noJson)
      it(`treats one whose html has ${what} as garbage`, () => {
        expect(
          inside(Buffer.concat([Buffer.from(long), Buffer.from(text as string)])).kind,
        ).to.equal('garbage');
      });

    it('requires a valid id', () => {
      for (const id of ['0', '00', '012', '1000000000'])
        expect(
          filter(big(`{"frameId":"${FRAME}","html":"${html}"}`).replace('12', id)).kind,
        ).to.equal('garbage');
    });

    const wrong: [string, string][] = [
      ['another key after the html', big(`{"frameId":"${FRAME}","html":"${html}","x":1}`)],
      [
        'a second method after the params',
        `${big(`{"frameId":"${FRAME}","html":"${html}"}`).slice(0, -1)},"method":"Browser.close"}`,
      ],
      [
        'a session after the params',
        `${big(`{"frameId":"${FRAME}","html":"${html}"}`).slice(0, -1)},"sessionId":"other"}`,
      ],
      ['another method', `{"id":1,"method":"Runtime.evaluate","params":{"expression":"${html}"}}`],
      ['no end', big(`{"frameId":"${FRAME}","html":"${html}`)],
      [
        'an escaped end',
        `{"id":12,"method":"Page.setDocumentContent","params":{"frameId":"${FRAME}","html":"${html}\\"}}`,
      ],
      ['a frame id with a quote', big(`{"frameId":"${FRAME.slice(1)}\\"","html":"${html}"}`)],
      ['a NUL, which ends a message for Chrome', big(`{"frameId":"${FRAME}","html":"${html}\0"}`)],
      [
        'white space',
        `{ "id":12,"method":"Page.setDocumentContent","params":{"frameId":"${FRAME}","html":"${html}"}}`,
      ],
    ];
    for (const [what, frame] of wrong)
      it(`treats one with ${what} as garbage`, () => {
        expect(filter(frame).kind).to.equal('garbage');
      });
  });
});
