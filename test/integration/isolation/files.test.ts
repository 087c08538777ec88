import { randomBytes } from 'node:crypto';
import { chmodSync, readdirSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { html, type Installation, installation } from '../../support/installation.ts';
import { filePage, secretFiles, writeSecretFiles } from '../../support/pages/file-pages.ts';
import { pdfInfo, pdfPicture, pdfText } from '../../support/pdf.ts';
import { startWebServer, type WebServer } from '../../support/servers/web-server.ts';
import { temporaryFolder } from '../../support/temporary.ts';

describe('files of the worker host', function () {
  this.timeout(120_000);
  const secret = `s${randomBytes(8).toString('hex')}`;
  const file = temporaryFolder();
  let folder: string;
  let web: WebServer;
  let pressroom: Installation;
  /** Everything the server received, including bodies. */
  let received: string;

  before(async () => {
    chmodSync(file(), 0o755);
    folder = file('secrets');
    writeSecretFiles(folder, secret);
    const spellings = () => [
      `file:${folder}/a.txt`,
      `FILE://${folder}/a.txt`,
      `file://localhost${folder}/a.txt`,
      `file:///${folder}/a.html`,
      `file:\\\\\\${folder}/a.txt`,
      `file:////127.0.0.1${folder}/a.txt`,
      `file://127.0.0.1${folder}/a.txt`,
      `\\\\127.0.0.1${folder.replaceAll('/', '\\')}\\a.txt`,
      ` \tfi\tle://${folder}/a.txt`,
      `view-source:file://${folder}/a.txt`,
      `filesystem:file://${folder}/a.txt`,
      `blob:file://${folder}/a.txt`,
      `jar:file://${folder}/a.txt!/`,
      `dav://127.0.0.1${folder}/a.txt`,
      `smb://127.0.0.1${folder}/a.txt`,
      `chrome://file${folder}/a.txt`,
      `content://${folder}/a.txt`,
      `javascript:fetch('file://${folder}/a.txt').then(a => a.text()).then(t => parent.document.body.append(t))`,
    ];
    const redirect = (location: string) => (_request: unknown, response: ServerResponse) =>
      response.writeHead(302, { location }).end();
    web = await startWebServer({
      '/page': (_request, response) =>
        response
          .writeHead(200, { 'content-type': 'text/html' })
          .end(filePage(`file://${folder}`, [...spellings(), '/to-file'])),
      '/download': (_request, response) =>
        response
          .writeHead(200, {
            'content-type': 'application/octet-stream',
            'content-disposition': 'attachment; filename="x.bin"',
          })
          .end(secret.repeat(1_000)),
      '/to-file': redirect(`file://${folder}/a.html`),
      '/refresh': `<meta http-equiv="refresh" content="0;url=file://${folder}/a.html">SHOWN`,
      '/refresh-header': (_request, response) =>
        response
          .writeHead(200, { 'content-type': 'text/html', refresh: `0;url=file://${folder}/a.html` })
          .end('SHOWN'),
      '/goes': `SHOWN<script>location = 'file://${folder}/a.html'</script>`,
      '/base': `<base href="file://${folder}/"><link rel=stylesheet href="a.css">SHOWN<img src="a.bmp"><iframe src="a.html"></iframe><script src="a.js"></script>`,
      '/styled.xml': (_request, response) =>
        response
          .writeHead(200, { 'content-type': 'text/xml' })
          .end(
            `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="file://${folder}/a.xsl"?><!DOCTYPE a [<!ENTITY x SYSTEM "file://${folder}/a.txt">]><a>SHOWN &x;</a>`,
          ),
      '/link-header': (_request, response) =>
        response
          .writeHead(200, {
            'content-type': 'text/html',
            link: `<file://${folder}/a.css>; rel=stylesheet`,
          })
          .end('SHOWN'),
      ...Object.fromEntries(
        Object.entries(secretFiles(secret)).map(([name, [type, content]]) => [
          `/files/${name}`,
          (_request: unknown, response: ServerResponse) =>
            response
              .writeHead(200, { 'content-type': type, 'access-control-allow-origin': '*' })
              .end(content),
        ]),
      ),
    });
    pressroom = await installation({
      intranet: true,
      env: { PRESSROOM_EGRESS_ALLOW: `127.0.0.1:${web.port}` },
    });
    pages = {
      'an HTML document': {
        html: filePage(`file://${folder}`, spellings()),
        wait_for_expression: 'window.done',
      },
      'a web page': {
        url: `http://127.0.0.1:${web.port}/page`,
        wait_for_expression: 'window.done',
      },
    };
  });
  let pages: Record<string, object>;
  after(async () => {
    await pressroom.stop();
    await web.close();
  });
  beforeEach(() => {
    web.requests.length = 0;
    received = '';
  });

  /** The profile folder of the running Chrome. */
  const profile = (): string => {
    const { pid } = pressroom.worker.worker.chromes()[0]!;
    return /--user-data-dir=([^\0]+)/.exec(readFileSync(`/proc/${pid}/cmdline`, 'utf8'))![1]!;
  };
  /** Returns `gone` for a file or folder that Chrome removed in the meantime. */
  function unlessGone<T>(look: () => T, gone: T): T {
    try {
      return look();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return gone;
      throw error;
    }
  }

  const filesWith = (text: string, where: string): string[] =>
    unlessGone(() => readdirSync(where, { withFileTypes: true }), []).flatMap(entry => {
      const path = join(where, entry.name);
      if (entry.isDirectory()) return filesWith(text, path);
      return entry.isFile() && unlessGone(() => readFileSync(path).includes(text), false)
        ? [path]
        : [];
    });

  /** Whether any page of the PDF has a pixel of the secret pictures' colour. */
  async function hasColour(pdf: Buffer): Promise<boolean> {
    const { pages: count } = await pdfInfo(pdf);
    for (let page = 1; page <= count; page++) {
      const picture = await pdfPicture(pdf, page);
      for (let y = 0; y < picture.height; y++)
        for (let x = 0; x < picture.width; x++) {
          const [red, green, blue] = picture.at(x, y);
          if (red > 200 && blue > 200 && green < 60) return true;
        }
    }
    return false;
  }
  const expectNoSecret = async (pdf: Buffer) => {
    expect(await pdfText(pdf)).to.not.include(secret);
    expect(await hasColour(pdf), 'a secret picture was drawn').to.equal(false);
    received += web.requests
      .map(({ url, headers }) => `${url} ${JSON.stringify(headers)}`)
      .join('\n');
    expect(received).to.not.include(secret);
  };

  it('detects the secrets in a PDF when a page can load them over HTTP', async () => {
    const pdf = await pressroom.pdf({
      html: filePage(`http://127.0.0.1:${web.port}/files`),
      wait_for_network_idle: true,
    });
    expect((await pdfText(pdf)).split(secret).length).to.be.greaterThan(6);
    expect(await hasColour(pdf)).to.equal(true);
    const script = `<script>fetch('http://127.0.0.1:${web.port}/files/a.txt').then(a => a.text()).then(text => { document.body.append(text); window.done = true })</script>`;
    expect(
      await pdfText(
        await pressroom.pdf({ html: html(script), wait_for_expression: 'window.done' }),
      ),
    ).to.include(secret);
  });

  it('lets Chrome itself read the files', async () => {
    const { pipe } = pressroom.worker.worker.chromes()[0]!;
    const { targetId } = await pipe.command<{ targetId: string }>('Target.createTarget', {
      url: `file://${folder}/a.txt`,
    });
    const { sessionId } = await pipe.command<{ sessionId: string }>('Target.attachToTarget', {
      targetId,
      flatten: true,
    });
    const expression = 'document.body?.textContent';
    await eventually(async () => {
      const { result } = await pipe.command<{ result: { value: string } }>(
        'Runtime.evaluate',
        { expression },
        sessionId,
      );
      expect(result.value).to.include(secret);
    });
    await pipe.command('Target.closeTarget', { targetId });
  });

  for (const which of ['an HTML document', 'a web page'])
    it(`shows no local file through elements and scripts of ${which}`, async () => {
      const pdf = await pressroom.pdf(pages[which]);
      expect(await pdfText(pdf)).to.include('SHOWN');
      await expectNoSecret(pdf);
    });

  for (const path of [
    '/refresh',
    '/refresh-header',
    '/goes',
    '/base',
    '/styled.xml',
    '/link-header',
  ])
    it(`shows no local file through ${path}`, async () => {
      const answer = await pressroom.render({
        url: `http://127.0.0.1:${web.port}${path}`,
        wait_delay: '300ms',
      });
      if (answer.status === 200) await expectNoSecret(answer.body);
      else expect(answer.body.toString()).to.not.include(secret);
    });

  it('does not follow a redirect to a local file', async () => {
    const error = await pressroom.renderError({ url: `http://127.0.0.1:${web.port}/to-file` });
    expect(error).to.include({ status: 502, code: 'render_failed' });
    expect(JSON.stringify(error)).to.not.include(secret);
  });

  describe('downloads', () => {
    const ways: [string, (address: string) => object][] = [
      ['the main document', url => ({ url })],
      ['a frame', url => ({ html: html(`SHOWN<iframe src="${url}"></iframe>`) })],
      [
        'a link',
        url => ({
          html: html(
            `SHOWN<a href="${url}" download="x">x</a><script>document.querySelector('a').click()</script>`,
          ),
        }),
      ],
      [
        'a form',
        url => ({
          html: html(
            `SHOWN<iframe name="f"></iframe><form action="${url}" target="f"></form><script>document.forms[0].submit()</script>`,
          ),
        }),
      ],
      [
        'a blob',
        () => ({
          html: html(
            `SHOWN<a download="x">x</a><script>const a = document.querySelector('a'); a.href = URL.createObjectURL(new Blob(['${secret}'], { type: 'application/x' })); a.click()</script>`,
          ),
        }),
      ],
    ];
    for (const [what, body] of ways)
      it(`stores no download of ${what}`, async () => {
        const answer = await pressroom.render({
          ...body(`http://127.0.0.1:${web.port}/download`),
          wait_delay: '500ms',
        });
        if (answer.status === 200) expect(await pdfText(answer.body)).to.not.include(secret);
        // The profile folder is the only one in which Chrome's user may write. Chrome may take a
        // moment to remove the temporary file of a blocked download.
        await eventually(() => expect(filesWith(secret, profile())).to.deep.equal([]));
      });
  });

  const fields: [string, (path: string) => object][] = [
    ['url', path => ({ url: `${path}/a.html` })],
    [
      'css',
      path => ({
        html: html('SHOWN'),
        css: `@import "${path}/a.css"; body { background: url(${path}/a.bmp) }`,
      }),
    ],
    ['javascript', path => ({ html: html('SHOWN'), javascript: `location = "${path}/a.html"` })],
    [
      'javascript that fetches',
      path => ({
        html: html('SHOWN'),
        javascript: `document.body.append(await (await fetch("${path}/a.txt")).text())`,
      }),
    ],
    ['css by URL', path => ({ html: html('SHOWN'), css: `${path}/a.css` })],
    ['javascript by URL', path => ({ html: html('SHOWN'), javascript: `${path}/a.js` })],
    [
      'header',
      path => ({
        html: html('SHOWN'),
        header: { html: `<img src="${path}/a.bmp" width="90" height="90">` },
      }),
    ],
    [
      'footer',
      path => ({ html: html('SHOWN'), footer: { html: `<iframe src="${path}/a.txt"></iframe>` } }),
    ],
    [
      'footer in CSS',
      path => ({
        html: html('SHOWN'),
        footer: { html: `<p style="background: url(${path}/a.bmp); width: 90px">.</p>` },
      }),
    ],
  ];
  for (const [what, body] of fields)
    it(`reads no local file through ${what}`, async () => {
      const answer = await pressroom.render({ ...body(`file://${folder}`), wait_delay: '300ms' });
      if (answer.status === 200) await expectNoSecret(answer.body);
      else expect(answer.body.toString()).to.not.include(secret);
    });
});
