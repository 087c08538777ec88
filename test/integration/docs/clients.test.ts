// @proves client-snippets
// Runs the client code of docs/clients.md in each language against a real service.
import { access, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type RunResult, runCommand } from '../../../standalone/run-command.ts';
import { type Installation, installation } from '../../support/installation.ts';
import { pdfText } from '../../support/pdf.ts';
import { pythonTools } from '../../support/python-tools.ts';
import { skip } from '../../support/skip.ts';

interface Client {
  /** The language tag of the code block. */
  language: string;
  file: string;
  /** A command that succeeds when the requirements are installed. */
  needs: string[];
  run: string[];
}

const CLIENTS: Client[] = [
  {
    language: 'sh',
    file: 'client.sh',
    needs: ['curl', '--version'],
    run: ['sh', '-e', 'client.sh'],
  },
  {
    language: 'js',
    file: 'client.mjs',
    needs: [process.execPath, '--version'],
    run: [process.execPath, 'client.mjs'],
  },
  {
    language: 'python',
    file: 'client.py',
    needs: ['python3', '-c', 'import requests'],
    run: ['python3', 'client.py'],
  },
  { language: 'go', file: 'client.go', needs: ['go', 'version'], run: ['go', 'run', 'client.go'] },
  {
    language: 'php',
    file: 'client.php',
    needs: ['php', '-r', 'exit(function_exists("curl_init") ? 0 : 1);'],
    run: ['php', 'client.php'],
  },
];

const TIMEOUT_MS = 100_000; // Go compiles

describe('the client code of docs/clients.md', function () {
  this.timeout(TIMEOUT_MS + 20_000);
  let pressroom: Installation;
  let folder: string;
  let clients: string;
  let python: { env: NodeJS.ProcessEnv };
  before(async () => {
    // then it has requests of its own, or is skipped
    python = await pythonTools().catch(() => ({ env: process.env }));
    pressroom = await installation();
    clients = await readFile(new URL('../../../docs/clients.md', import.meta.url), 'utf8');
  });
  after(() => pressroom.stop());
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pressroom-client-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const codeIn = (language: string) =>
    new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(clients)?.[1];

  function run([program = '', ...parameters]: string[], key: string): Promise<RunResult> {
    const env = { ...python.env, PRESSROOM_KEY: key, NO_PROXY: '*', no_proxy: '*' };
    return runCommand(program, parameters, { timeoutMs: TIMEOUT_MS, cwd: folder, env });
  }
  const written = () =>
    access(join(folder, 'invoice.pdf')).then(
      () => true,
      () => false,
    );

  it('covers exactly the supported languages', () => {
    expect([...clients.matchAll(/```(\w+)/g)].map(([, language]) => language)).to.deep.equal(
      CLIENTS.map(({ language }) => language),
    );
  });

  for (const { language, file, needs, run: command } of CLIENTS)
    it(`renders in ${language} and reports an invalid key`, async function () {
      if (!(await run(needs, '')).ok)
        skip(this, `\`${needs.join(' ')}\` does not work on this machine`);
      await writeFile(
        join(folder, file),
        codeIn(language)!.replaceAll('http://localhost:8080', pressroom.url),
      );
      const rejected = await run(command, 'pressroom_live_wrong');
      expect(rejected.ok, 'it ends with an error').to.equal(false);
      // Only curl writes the body of an error into the file.
      expect(await written()).to.equal(language === 'sh');

      const rendered = await run(command, pressroom.key);
      expect(rendered, JSON.stringify(rendered)).to.have.property('ok', true);
      expect(await pdfText(await readFile(join(folder, 'invoice.pdf')))).to.include('Invoice 42');
    });
});
