// The code snippets of the playground, run unchanged in each language, against a server that records
// the requests and against a real service.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  type Json,
  KEY_VARIABLE,
  type Snippet,
  snippets,
} from '../../../common/contract/snippets.ts';
import { runCommand } from '../../../standalone/run-command.ts';
import { type Installation, installation } from '../../support/installation.ts';
import { pdfText } from '../../support/pdf.ts';
import { pythonTools } from '../../support/python-tools.ts';
import { skip } from '../../support/skip.ts';

const PROGRAMS: Record<Snippet['id'], { file: string; needs: string[]; run: string[] }> = {
  curl: { file: 'call.sh', needs: ['curl', '--version'], run: ['sh', '-e', 'call.sh'] },
  node: {
    file: 'call.mjs',
    needs: [process.execPath, '--version'],
    run: [process.execPath, 'call.mjs'],
  },
  python: {
    file: 'call.py',
    needs: ['python3', '-c', 'import requests'],
    run: ['python3', 'call.py'],
  },
  go: { file: 'call.go', needs: ['go', 'version'], run: ['go', 'run', 'call.go'] },
  php: {
    file: 'call.php',
    needs: ['php', '-r', 'exit(function_exists("curl_init") ? 0 : 1);'],
    run: ['php', 'call.php'],
  },
  java: {
    file: 'call.java',
    needs: ['java', '--list-modules'],
    run: ['java', 'call.java'],
  },
};

const TIMEOUT_MS = 100_000; // Go compiles

/** Text with the special characters of languages, shells and editors. */
const NASTY = `<!doctype html>\n<p>'one' "two" \`three\` \\four\\n \${five} $six $(seven) {$eight} %s %d #{nine} <?php echo 1 ?> !ten */ // <<JSON
JSON
EOF
\t\r\n"""'''</p>\u0000\u0001\u001b\u007f\u0085\u00a0é漢字😀\u2028\u2029\ufeff\u200f&amp;<script>let a = 1 < 2 && "</script>";</script>`;

const REQUEST: { [name: string]: Json } = {
  html: NASTY,
  landscape: true,
  print_background: false,
  scale: 0.75,
  margin: { top: '1in', left: '0' },
  cookies: [
    { name: 'a', value: '"$x\\', domain: 'example.com', secure: true },
    { name: 'b', value: '', domain: 'example.com' },
  ],
  extra_http_headers: { 'X-Quote': `it's "so"` },
  metadata: {},
};

describe('the code snippets of the playground', function () {
  this.timeout(TIMEOUT_MS + 20_000);
  let pressroom: Installation;
  let server: Server;
  let python: { env: NodeJS.ProcessEnv };
  let folder: string;
  let received: { body: string; headers: NodeJS.Dict<string | string[]> }[];
  before(async () => {
    // Then it has its own requests, or is skipped.
    python = await pythonTools().catch(() => ({ env: process.env }));
    pressroom = await installation();
    server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      received.push({ body: Buffer.concat(chunks).toString(), headers: request.headers });
      response.end('the answer');
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  });
  after(async () => {
    server.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
    await pressroom.stop();
  });
  beforeEach(async () => {
    received = [];
    folder = await mkdtemp(join(tmpdir(), 'pressroom-code-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  function run([program = '', ...parameters]: string[], key: string) {
    const env = { ...python.env, [KEY_VARIABLE]: key, NO_PROXY: '*', no_proxy: '*' };
    return runCommand(program, parameters, { timeoutMs: TIMEOUT_MS, cwd: folder, env });
  }
  const code = (id: Snippet['id'], url: string, request: { [name: string]: Json }) =>
    snippets(`${url}/v1/render`, request).find(snippet => snippet.id === id)!.code;

  it('exist for all languages', () => {
    expect(snippets('http://localhost:8080', REQUEST).map(({ id }) => id)).to.deep.equal(
      Object.keys(PROGRAMS),
    );
  });

  for (const [id, { file, needs, run: command }] of Object.entries(PROGRAMS) as [
    Snippet['id'],
    (typeof PROGRAMS)['curl'],
  ][]) {
    it(`send any text unchanged, in ${id}`, async function () {
      if (!(await run(needs, '')).ok)
        skip(this, `\`${needs.join(' ')}\` does not work on this machine`);
      await writeFile(
        join(folder, file),
        code(id, `http://127.0.0.1:${(server.address() as AddressInfo).port}`, REQUEST),
      );
      const ran = await run(command, 'the-key');
      expect(ran, JSON.stringify(ran)).to.have.property('ok', true);
      expect(received).to.have.length(1);
      expect(JSON.parse(received[0]!.body)).to.deep.equal(REQUEST);
      expect(received[0]!.headers).to.include({
        authorization: 'Bearer the-key',
        'content-type': 'application/json',
      });
      expect(await readFile(join(folder, 'render.pdf'), 'utf8')).to.equal('the answer');
    });

    it(`render, and report an invalid key, in ${id}`, async function () {
      if (!(await run(needs, '')).ok)
        skip(this, `\`${needs.join(' ')}\` does not work on this machine`);
      await writeFile(
        join(folder, file),
        code(id, pressroom.url, { html: `<h1>It's "Invoice" $42</h1>`, format: 'A5' }),
      );
      expect((await run(command, 'pressroom_live_wrong')).ok, 'it ends with an error').to.equal(
        false,
      );
      const ran = await run(command, pressroom.key);
      expect(ran, JSON.stringify(ran)).to.have.property('ok', true);
      expect(await pdfText(await readFile(join(folder, 'render.pdf')))).to.include(
        `It's "Invoice" $42`,
      );
    });
  }
});
