// @proves api-reference, console-openapi
// Generated clients of both OpenAPI documents compile, and those of the API render.
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { runCommand } from '../../../standalone/run-command.ts';
import { BUILD_LIMIT_MS, kubeBinaries, whyNoBinaries } from '../../cluster/kube/binaries.ts';
import { type ConsoleFixture, consoleFixture } from '../../support/console/console-fixture.ts';
import { nodeTools } from '../../support/generators/node-tools.ts';
import {
  GO,
  GO_MODULE,
  HEY_API,
  HEY_API_CONFIG,
  OPENAPI_FETCH,
  PYTHON,
  REDOCLY_CONFIG,
} from '../../support/generators/programs.ts';
import { pdfText } from '../../support/pdf.ts';
import { type PythonTools, pythonTools } from '../../support/python-tools.ts';
import { skip } from '../../support/skip.ts';

const REQUIREMENTS = fileURLToPath(
  new URL('../../support/generators/python-requirements.txt', import.meta.url),
);
const RUN_MS = 120_000;
const DOCUMENTS = { api: '/openapi.json', management: '/console/v1/openapi.json' } as const;
const NAMES = Object.keys(DOCUMENTS) as (keyof typeof DOCUMENTS)[];

const TSCONFIG = {
  compilerOptions: {
    ...{ target: 'es2022', module: 'nodenext', lib: ['es2022', 'dom', 'dom.iterable'] },
    ...{ strict: true, skipLibCheck: false, outDir: 'built', types: ['node'] },
  },
};

describe('client generators', function () {
  this.timeout(400_000);
  let pressroom: ConsoleFixture;
  let folder: string;
  before(async () => {
    pressroom = await consoleFixture();
  });
  after(() => pressroom.stop());

  /** A folder with both documents. */
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pressroom-generated-'));
    for (const name of NAMES) {
      const { status, body } = await pressroom.call('GET', DOCUMENTS[name]);
      expect(status).to.equal(200);
      await writeFile(join(folder, `${name}.json`), body);
    }
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const write = (file: string, text: string) => writeFile(join(folder, file), text);

  /** Returns stdout, and stdout and stderr together. Fails when the program does. */
  async function run(program: string, args: string[], env: NodeJS.ProcessEnv = process.env) {
    let output = '';
    const { ok, stdout, why } = await runCommand(program, args, {
      timeoutMs: RUN_MS,
      cwd: folder,
      env: {
        ...env,
        ...{ PRESSROOM_URL: pressroom.url, PRESSROOM_KEY: pressroom.key },
        ...{ NO_PROXY: '*', no_proxy: '*', NO_COLOR: '1' },
      },
      onOutput: chunk => {
        output += chunk;
      },
    });
    expect(ok, `${program} ${args.join(' ')}: ${why}\n${output.slice(-4_000)}`).to.equal(true);
    return { stdout, output };
  }

  async function expectPdf() {
    expect(await pdfText(await readFile(join(folder, 'out.pdf')))).to.include('Invoice 42');
  }

  describe('of npm', () => {
    let modules: string;
    before(async function () {
      modules = await nodeTools().catch(error => skip(this, (error as Error).message));
    });
    beforeEach(async () => {
      await symlink(modules, join(folder, 'node_modules'));
      await write('package.json', '{"type": "module"}');
      await write('tsconfig.json', JSON.stringify(TSCONFIG));
    });
    const node = (script: string, ...args: string[]) =>
      run(process.execPath, [join(modules, script), ...args]);
    const compile = () => node('typescript/bin/tsc', '--project', '.');

    it('have nothing to report in Redocly', async () => {
      await write('redocly.yaml', REDOCLY_CONFIG);
      for (const name of NAMES) {
        const lint = ['lint', `${name}.json`, '--format', 'json'];
        const { stdout } = await node('@redocly/cli/bin/cli.js', ...lint);
        expect(JSON.parse(stdout).totals, stdout).to.include({ errors: 0, warnings: 0 });
      }
    });

    it('render with openapi-typescript and openapi-fetch', async () => {
      const generate = (name: string, file: string) =>
        node('openapi-typescript/bin/cli.js', `${name}.json`, '--output', file);
      await generate('api', 'types.d.ts');
      await generate('management', 'management.d.ts');
      await write('main.ts', OPENAPI_FETCH);
      await compile();
      await run(process.execPath, ['built/main.js']);
      await expectPdf();
    });

    it('render with @hey-api/openapi-ts', async () => {
      await write('openapi-ts.config.mjs', HEY_API_CONFIG);
      await node('@hey-api/openapi-ts/bin/run.js');
      await write('main.ts', HEY_API);
      await compile();
      await run(process.execPath, ['built/main.js']);
      await expectPdf();
    });
  });

  describe('of PyPI', () => {
    let tools: PythonTools;
    before(async function () {
      tools = await pythonTools(REQUIREMENTS).catch(error => skip(this, (error as Error).message));
    });
    const python = (...args: string[]) => run(tools.python, args, tools.env);

    it('find both documents valid with openapi-spec-validator', async () => {
      for (const name of NAMES)
        expect((await python('-m', 'openapi_spec_validator', `${name}.json`)).output).to.match(
          /OK$/m,
        );
    });

    it('render with openapi-python-client', async () => {
      const binary = (type: string) => `  ${type}: application/octet-stream\n`;
      const overrides = binary('application/pdf') + binary('application/x-ndjson');
      await write('config.yaml', `post_hooks: []\ncontent_type_overrides:\n${overrides}`);
      for (const [name, to] of [
        ['api', 'client'],
        ['management', 'management'],
      ] as const) {
        const { output } = await python(
          ...['-m', 'openapi_python_client', 'generate', '--config', 'config.yaml'],
          ...['--meta', 'none', '--path', `${name}.json`, '--output-path', to],
        );
        // A part that it does not understand is left out with a warning.
        expect(output).not.to.match(/warning/i);
      }
      await python('-m', 'compileall', '-q', 'client', 'management');
      await write('main.py', PYTHON);
      await python('main.py');
      await expectPdf();
    });
  });

  it('of Go render with oapi-codegen', async function () {
    const why = whyNoBinaries(['oapi-codegen']);
    if (why !== undefined) return skip(this, `oapi-codegen is not available: ${why}.`);
    this.timeout(BUILD_LIMIT_MS);
    const { 'oapi-codegen': generator } = await kubeBinaries(['oapi-codegen']);
    for (const name of NAMES) {
      await mkdir(join(folder, name));
      const file = ['-o', `${name}/client.go`, `${name}.json`];
      await run(generator, ['-generate', 'types,client', '-package', name, ...file]);
    }
    await write('go.mod', GO_MODULE);
    await write('main.go', GO);
    await run('go', ['build', '-mod=mod', '-buildvcs=false', '-o', 'program', '.']);
    await run(join(folder, 'program'), []);
    await expectPdf();
  });
});
