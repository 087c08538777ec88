// @proves mcp-image

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { killQuietly } from '../../worker/browser/chrome.ts';
import { ownPort } from '../fault/harness/ports.ts';
import { PUBLIC_URL } from '../support/console/oauth-flow.ts';
import { eventually } from '../support/eventually.ts';
import { httpCall, renderCall } from '../support/http-call.ts';
import { html, type Installation, installation } from '../support/installation.ts';
import { pdfText } from '../support/pdf.ts';
import { SCHED_BATCH, treeOf } from '../support/processes.ts';
import { skip } from '../support/skip.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { TEST_SECRET } from '../support/worker.ts';
import { productImages, REVISION, TARGETS, type Target, VERSION } from './built-product.ts';
import { letsAppsRender } from './connected-app.ts';
import { type Image, type Images, whyNoImages } from './image-build.ts';
import { type Inside, startInside } from './inside-image.ts';
import { showsItsPage } from './shown-page.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PEPPER = 'a pepper of the images';
const MINUTE_MS = 60_000;

/** Programs that an image does not need and that would help an attacker. */
const UNWANTED = [
  'npm',
  'npx',
  'corepack',
  'gcc',
  'cc',
  'g++',
  'make',
  'python3',
  'curl',
  'wget',
  'git',
];

/** Runs the font check of `pressroom doctor` with the Chrome of the worker image. */
const CHECK_FONTS = `
import { readWorkerConfig } from '/app/worker/config.ts';
import { findChrome } from '/app/worker/browser/find-chrome.ts';
import { scriptsWithoutFont } from '/tmp/standalone/fonts.ts';
const missing = await scriptsWithoutFont({ ...readWorkerConfig(process.env).chrome, executable: findChrome(undefined) });
console.log(JSON.stringify(missing.map(({ name }) => name)));`;

describe('container images', function () {
  this.timeout(2 * MINUTE_MS);
  let built: Images<Target> | undefined;
  const at = temporaryFolder();
  const started: Inside[] = [];
  let pressroom: Installation | undefined;
  const image = (target: Target): Image => built!.images[target];
  const folder = (target: Target, path: string) => readdirSync(join(image(target).root, path));
  const file = (target: Target, path: string) =>
    readFileSync(join(image(target).root, path), 'utf8');

  before(async function () {
    this.timeout(25 * MINUTE_MS);
    const why = await whyNoImages(console.log);
    if (why !== undefined) skip(this, why);
    built = await productImages();
    const sizes = TARGETS.map(target => `${target} ${Math.round(image(target).bytes / 1e6)} MB`);
    console.log(`    Image sizes: ${sizes.join(', ')}.`);
  });

  afterEach(async () => {
    await Promise.all(started.splice(0).map(inside => inside.kill()));
    await pressroom?.stop();
    pressroom = undefined;
  });

  /** Starts a program in an image. `fill` prepares its /tmp. */
  async function start(
    target: Target,
    env: Record<string, string> = {},
    command?: string[],
    fill = async (_tmp: string) => {},
    user?: string,
  ) {
    const tmp = await mkdtemp(at('tmp-'));
    await chmod(tmp, 0o1777);
    await fill(tmp);
    const inside = startInside(image(target), {
      tmp,
      env,
      ...(command && { command }),
      ...(user && { user }),
    });
    started.push(inside);
    return inside;
  }

  /** Starts a process and waits until it is ready on its operations port. */
  async function startReady(target: Target, env: Record<string, string>, user?: string) {
    const port = await ownPort();
    const all = {
      PRESSROOM_OPERATIONS_HOST: '127.0.0.1',
      PRESSROOM_OPERATIONS_PORT: String(port),
      PRESSROOM_POOL_SECRET: TEST_SECRET,
      ...env,
    };
    const inside = await start(target, all, undefined, undefined, user);
    let over = false;
    void inside.ended.then(() => {
      over = true;
    });
    await eventually(async () => {
      if (over) return;
      const status = await httpCall(port, 'GET', '/readyz').then(
        answer => answer.status,
        () => 0,
      );
      if (status !== 200) throw new Error(`${target} is not ready (${status}): ${inside.output()}`);
    }, MINUTE_MS);
    if (over) throw new Error(`${target} exited at startup: ${inside.output()}`);
    return inside;
  }

  async function startWorker(user?: string) {
    const port = await ownPort();
    const gateway = {
      PRESSROOM_GATEWAY_HOST: '127.0.0.1',
      PRESSROOM_GATEWAY_PORT: String(port),
      PRESSROOM_SLOTS: '2',
    };
    return { inside: await startReady('worker', gateway, user), address: `ws://127.0.0.1:${port}` };
  }

  /** An API with an account and only this worker. */
  async function installationWith(address: string) {
    pressroom = await installation({
      workers: 0,
      env: { PRESSROOM_WORKERS: address, PRESSROOM_PEPPER: PEPPER },
    });
    return pressroom;
  }

  for (const target of TARGETS) {
    it(`run as a numeric non-root user: ${target}`, () => {
      expect(image(target).config.User).to.match(/^[1-9]\d*:[1-9]\d*$/);
    });

    it(`contain no package manager, compiler or package lists: ${target}`, () => {
      const programs = ['bin', 'sbin', 'usr/bin', 'usr/sbin', 'usr/local/bin'].flatMap(path =>
        folder(target, path),
      );
      expect(programs).to.include('node');
      expect(programs.filter(name => UNWANTED.includes(name))).to.deep.equal([]);
      expect(existsSync(join(image(target).root, 'app/node_modules/.bin'))).to.equal(false);
      expect(folder(target, 'var/lib/apt/lists')).to.deep.equal([]);
    });

    it(`contain only their own folders and packages: ${target}`, () => {
      const more = {
        api: ['charts', 'cli', 'dashboard', 'docs'],
        worker: [],
        controller: ['crds'],
      }[target];
      expect(folder(target, 'app').sort()).to.deep.equal(
        [
          '.compile-cache',
          'LICENSE',
          'NOTICE',
          'THIRD-PARTY-NOTICES.txt',
          target,
          'common',
          'node_modules',
          'package.json',
          'pressroom.spdx.json',
          ...more,
        ].sort(),
      );
      if (target === 'api')
        expect(folder(target, 'app/charts/pressroom')).to.deep.equal(['runbook.md']);
      if (target === 'api') expect(folder(target, 'app/docs')).to.deep.equal(['guides']);
      // Only the API uses the contract.
      expect(folder(target, 'app/common').includes('contract')).to.equal(target === 'api');
      for (const name of [
        ...['mocha', 'typescript', 'mongodb-memory-server-core', 'pino-pretty'],
        ...['vite', 'react', '@mantine', 'playwright-core'],
      ])
        expect(existsSync(join(image(target).root, 'app/node_modules', name)), name).to.equal(
          false,
        );
      // Without openid-client, which the Kubernetes client of the controller also uses.
      for (const name of [
        '@modelcontextprotocol/server',
        '@node-rs/argon2',
        'oidc-provider',
        'otpauth',
        'stripe',
        'uqr',
      ])
        expect(existsSync(join(image(target).root, 'app/node_modules', name)), name).to.equal(
          target === 'api',
        );
    });

    it(`contain an SBOM and the licenses of all packages: ${target}`, () => {
      const { packages } = JSON.parse(file(target, 'app/pressroom.spdx.json')) as {
        packages: { name: string; versionInfo: string }[];
      };
      const listed = packages.map(({ name, versionInfo }) => `${name}@${versionInfo}`);
      const there = Object.entries(
        JSON.parse(file(target, 'app/node_modules/.package-lock.json')).packages as Record<
          string,
          { version: string }
        >,
      );
      expect(there.length).to.be.greaterThan(10);
      expect(listed).to.include.members(
        there.map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`),
      );
      expect(listed.join()).to.match(
        { api: /\bmongodb@7\./, worker: /\bws@8\./, controller: /@kubernetes\/client-node@2\./ }[
          target
        ],
      );
      const notices = file(target, 'app/THIRD-PARTY-NOTICES.txt');
      const noticed = [...notices.matchAll(/^={80}\n(.+) (\S+)\nLicense: (.+)$/gm)];
      expect(noticed.map(([, name, version]) => `${name}@${version}`)).to.include.members(
        there.map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`),
      );
      expect(noticed.filter(([, , , license]) => license === 'unknown')).to.deep.equal([]);
      expect(file(target, 'var/lib/dpkg/status')).to.match(/^Package: libc6$/m);
    });

    it(`have OCI labels: ${target}`, () => {
      const { Labels } = image(target).config;
      expect(Labels).to.include({
        'org.opencontainers.image.title': {
          api: 'Pressroom API',
          worker: 'Pressroom worker',
          controller: 'Pressroom controller',
        }[target],
        'org.opencontainers.image.version': VERSION,
        'org.opencontainers.image.revision': REVISION,
        'org.opencontainers.image.licenses': 'Apache-2.0',
      });
    });
  }

  it('contain an SBOM and the licenses of the dashboard', () => {
    expect(folder('api', 'app/dashboard')).to.deep.equal(['dist']);
    expect(folder('api', 'app/dashboard/dist').sort()).to.deep.equal([
      'assets',
      'index.html',
      'licenses.json',
      'packages.spdx.json',
    ]);
    const { packages } = JSON.parse(file('api', 'app/dashboard/dist/packages.spdx.json')) as {
      packages: { name: string; versionInfo: string; licenseDeclared: string }[];
    };
    expect(packages.map(({ name }) => name)).to.include.members([
      'react',
      'react-dom',
      '@mantine/core',
      '@tanstack/react-query',
      'wouter',
    ]);
    expect(
      packages.filter(
        ({ versionInfo, licenseDeclared }) => !versionInfo || licenseDeclared === 'NOASSERTION',
      ),
    ).to.deep.equal([]);
    const licenses = JSON.parse(file('api', 'app/dashboard/dist/licenses.json')) as {
      name: string;
      text?: string;
    }[];
    expect(licenses.map(({ name }) => name)).to.have.members(packages.map(({ name }) => name));
    // Some packages do not include the license text.
    expect(licenses.filter(({ text }) => text && text.length > 100).length).to.be.greaterThan(
      packages.length / 2,
    );
  });

  it('exit with the names of missing variables', async () => {
    const [api, worker, controller] = await Promise.all([
      start('api'),
      start('worker'),
      start('controller'),
    ]);
    expect(await api.ended).to.equal(2);
    expect(api.output())
      .to.include('MONGODB_URI')
      .and.include('PRESSROOM_PEPPER')
      .and.include('PRESSROOM_POOL_SECRET');
    expect(await worker.ended).to.equal(2);
    expect(worker.output()).to.include('PRESSROOM_POOL_SECRET');
    expect(await controller.ended).to.equal(2);
    expect(controller.output())
      .to.include('No Kubernetes cluster is configured')
      .and.include('KUBECONFIG');
  });

  for (const target of TARGETS) {
    it(`have a compile cache that their user cannot modify: ${target}`, async () => {
      const inside = await start(target, { NODE_DEBUG_NATIVE: 'COMPILE_CACHE' });
      expect(await inside.ended).to.equal(2);
      const [used, missed] = ['retrieving transpile cache', 'no transpile cache'].map(what =>
        inside.output().match(new RegExp(`${what} for StrippedTypeScript file:///app/.*`, 'g')),
      );
      expect(used?.length).to.be.greaterThan(20);
      expect(missed).to.equal(null);
      expect(statSync(join(image(target).root, 'app/.compile-cache')).uid).to.equal(0);
    });
  }

  it('create accounts and API keys with the command in the API image', async () => {
    const { uri, api } = await installationWith('ws://127.0.0.1:9');
    const pressroom = async (...args: string[]) => {
      const inside = await start('api', { MONGODB_URI: uri, PRESSROOM_PEPPER: PEPPER }, [
        'pressroom',
        ...args,
      ]);
      expect(await inside.ended, inside.output()).to.equal(0);
      return inside.output();
    };
    await pressroom('accounts', 'create', 'acme', '--plan', 'growth');
    const [key] = /^pressroom_live_\w+/m.exec(
      await pressroom('keys', 'create', '--account', 'acme'),
    )!;
    // The key is valid: an invalid body is only reported to authenticated callers.
    expect((await renderCall(api.port(), key, {})).status).to.equal(400);
    expect(await pressroom('accounts', 'list')).to.match(/acme\s+growth\s+active/);
  });

  it('create an administrator with the command in the API image', async () => {
    const { uri, store } = await installationWith('ws://127.0.0.1:9');
    const command = [
      'pressroom',
      'admin',
      'create',
      '--email',
      'ada@corp.example',
      '--name',
      'Ada',
      '--password-file',
      '/tmp/password',
    ];
    const inside = await start(
      'api',
      { MONGODB_URI: uri, PRESSROOM_PEPPER: PEPPER },
      command,
      tmp => writeFile(join(tmp, 'password'), 'a password that is long enough\n', { mode: 0o644 }),
    );
    expect(await inside.ended, inside.output()).to.equal(0);
    expect(await store.console.users.findOne({ email: 'ada@corp.example' })).to.include({
      operator: true,
      name: 'Ada',
    });
  });

  it('allow writes only to /tmp', async () => {
    const inside = await start('api', {}, [
      'sh',
      '-c',
      'id -u; touch /tmp/a && echo written; touch /app/a /var/tmp/a',
    ]);
    expect(await inside.ended).to.equal(1);
    expect(inside.output()).to.match(/^10001\nwritten\n/);
    expect(inside.output().match(/Read-only file system/g)).to.have.length(2);
  });

  it('have fonts for all scripts, which a sandboxed Chrome finds', async () => {
    const inside = await start(
      'worker',
      {},
      ['node', '--input-type=module', '--eval', CHECK_FONTS],
      async tmp => {
        await mkdir(join(tmp, 'standalone'));
        await cp(join(ROOT, 'standalone/fonts.ts'), join(tmp, 'standalone/fonts.ts'));
        await writeFile(join(tmp, 'package.json'), '{"type":"module"}');
        for (const name of ['common', 'worker']) await symlink(`/app/${name}`, join(tmp, name));
      },
    );
    expect(await inside.ended, inside.output()).to.equal(0);
    expect(JSON.parse(inside.output())).to.deep.equal([]);
  });

  it('have a valid font cache', async () => {
    const inside = await start('worker', {}, ['fc-cache', '--verbose', '--system-only']);
    await inside.ended;
    expect(inside.output()).to.match(
      /fonts\/truetype\/noto: skipping, existing cache is valid: \d{3,} fonts/,
    );
    expect(inside.output().match(/.*: caching.*/g) ?? []).to.deep.equal([]);
  });

  for (const user of [undefined, '1000680000:0'])
    it(`render with a sandboxed Chrome on a read-only file system as ${user ?? 'their user'}`, async () => {
      const { inside, address } = await startWorker(user);
      const { pdf } = await installationWith(address);
      const made = await pdf({ html: html('<p>Printed in the image: 漢字</p>') });
      expect(await pdfText(made)).to.match(/Printed in the image:\s+漢字/);
      expect(inside.output()).to.match(/"sandbox":true,.*"ignoresNetworkChanges":true/);
    });

  it('run Chrome with batch scheduling', async () => {
    const { inside } = await startWorker();
    // A starting Chrome is briefly another program.
    await eventually(() => {
      for (const { program, policy } of treeOf(inside.pid()))
        expect(policy === SCHED_BATCH).to.equal(program === 'chrome');
    });
  });

  it('render together, and stop on SIGTERM', async () => {
    const { inside: worker, address } = await startWorker();
    const { uri, key } = await installationWith(address);
    const port = await ownPort();
    const api = await startReady('api', {
      PRESSROOM_HOST: '127.0.0.1',
      PRESSROOM_PORT: String(port),
      PRESSROOM_WORKERS: address,
      PRESSROOM_PEPPER: PEPPER,
      PRESSROOM_SECRET: 'a secret of the images',
      PRESSROOM_PUBLIC_URL: PUBLIC_URL,
      PRESSROOM_DRAIN_DELAY: '0s',
      MONGODB_URI: uri,
    });
    await showsItsPage(port, pressroom!.store);
    await letsAppsRender(port, pressroom!);
    // The watermark is drawn by worker threads, which load their own file.
    const answer = await renderCall(port, key, {
      html: html('Of both images'),
      sandbox: true,
      metadata: { title: 'Both' },
    });
    expect(answer.status, String(answer.body)).to.equal(200);
    expect(await pdfText(answer.body)).to.include('Of both images');
    expect(await api.stop(), api.output()).to.equal(0);
    expect(await worker.stop(), worker.output()).to.equal(0);
  });

  it('leave no zombie processes of a killed Chrome', async () => {
    const { inside } = await startWorker();
    const first = inside.pid();
    const chromes = () => treeOf(first).filter(({ program }) => program === 'chrome');
    const before = chromes().map(({ pid }) => pid);
    expect(before.length).to.be.greaterThan(2);
    // Some processes exit together with the first one.
    for (const pid of before) killQuietly(pid);
    await eventually(() => {
      expect(chromes().filter(({ pid }) => before.includes(pid))).to.deep.equal([]);
      expect(chromes().length).to.be.greaterThan(2);
    }, MINUTE_MS);
  });
});
