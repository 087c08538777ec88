// @proves release

import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parse } from 'yaml';
import { ARCHITECTURES, buildRelease, MACHINE, whyNotBuilt } from '../../release/build-image.ts';
import { baseImage } from '../../release/provenance.ts';
import { type Release, release } from '../../release/release.ts';
import { digestsOf, type ReleaseSettings } from '../../release/release-settings.ts';
import { type ReleaseTools, releaseTools } from '../../release/release-tools.ts';
import type { SpdxDocument } from '../../release/sbom.ts';
import { runCommand } from '../../standalone/run-command.ts';
import { productImages, REVISION, VERSION } from '../cluster/built-product.ts';
import { findHelm, type Helm, withValues } from '../cluster/chart/helm.ts';
import { type Images, whyNoImages } from '../cluster/image-build.ts';
import { BUILD_LIMIT_MS, kubeBinaries, whyNoBinaries } from '../cluster/kube/binaries.ts';
import { flaw, render } from '../cluster/node/callers.ts';
import { clusterDiagnostics } from '../cluster/node/cluster-diagnostics.ts';
import { startDatabase } from '../cluster/node/database.ts';
import { createInstallation, RELEASE } from '../cluster/node/installation.ts';
import { exportTestImages } from '../cluster/node/product-images.ts';
import {
  type RealCluster,
  startRealCluster,
  whyNoRealCluster,
} from '../cluster/node/real-cluster.ts';
import { PLAIN_IMAGE } from '../cluster/node/test-images.ts';
import { skip } from '../support/skip.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { type Registry, startRegistry } from './registry.ts';

const MINUTE_MS = 60_000;
const PASSWORD = 'the password of the test key';
const SOURCE = 'https://git.example/pressroom.git';
const HTTP = '--allow-http-registry';
const TOOLS = ['helm', 'cosign', 'oras', 'registry'] as const;
/** What the node calls the registry. */
const REGISTRY_NAME = 'registry.test';

describe('a release', function () {
  this.timeout(5 * MINUTE_MS);
  const at = temporaryFolder();
  let built: Images<string>;
  let helm: Helm;
  let tools: ReleaseTools;
  let cosignFile: string;
  let path: string;
  let registry: Registry | undefined;
  let settings: ReleaseSettings;
  let published: Release;
  /** What building the images printed. */
  const notices: string[] = [];

  /** No program may need another network than loopback, nor files of earlier runs. */
  const offline = () => ({
    ...process.env,
    HOME: at(),
    PATH: path,
    COSIGN_PASSWORD: PASSWORD,
    ...Object.fromEntries(
      ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'].map(name => [
        name,
        'http://127.0.0.1:9',
      ]),
    ),
  });
  const cosign = (...args: string[]) => tools('cosign', ...args);
  const offlineKey = (key: string) => ['--key', key, '--insecure-ignore-tlog', HTTP];
  const verify = (reference: string, key = published.publicKey) =>
    cosign('verify', ...offlineKey(key), reference);
  /** The predicate of an attestation. */
  const attested = async (reference: string, type: string) => {
    const { stdout } = await promisify(execFile)(
      cosignFile,
      ['verify-attestation', ...offlineKey(published.publicKey), '--type', type, reference],
      // An SBOM is longer than the output that a command returns.
      { env: offline(), maxBuffer: 64 * 2 ** 20 },
    );
    const [line] = stdout.split('\n');
    return JSON.parse(Buffer.from(JSON.parse(line!).payload, 'base64').toString()).predicate;
  };
  const resolve = async (reference: string) =>
    (await tools('oras', 'resolve', '--plain-http', reference)).trim();
  const push = (local: string, reference: string) =>
    tools('buildah', 'push', '--quiet', '--tls-verify=false', local, `docker://${reference}`);
  const image = (name: string) => published.images.find(each => each.repository === name)!;
  const referenceOf = (name: string, digest = image(name).digest) =>
    `${settings.registry}/${name}@${digest}`;

  before(async function () {
    this.timeout(BUILD_LIMIT_MS + 30 * MINUTE_MS);
    const why = (await whyNoImages(console.log)) ?? whyNoBinaries(TOOLS);
    if (why !== undefined) skip(this, why);
    helm = await findHelm(this);
    const { cosign, helm: helmFile, oras } = await kubeBinaries(TOOLS);
    [cosignFile, path] = [cosign, `${dirname(oras)}:${process.env.PATH}`];
    built = await productImages();
    registry = await startRegistry(at('registry'));
    tools = releaseTools({
      commands: {
        cosign: [cosign],
        helm: [helmFile],
        oras: [oras],
        buildah: ['buildah', ...built.store],
      },
      env: offline(),
    });
    await makeKey(tools, at('key'));
    await mkdir(at('results'));
    await mkdir(at('empty'));
    settings = {
      registry: `${registry.host}/pressroom`,
      plainHttp: true,
      version: VERSION,
      revision: REVISION,
      source: SOURCE,
      builder: 'https://ci.example/runs/1',
      key: at('key.key'),
      folder: at('results'),
      tools,
      buildOptions: built.buildOptions,
    };
    const began = performance.now();
    const startedOn = new Date();
    const locals = await buildRelease(settings, line => notices.push(line));
    published = await release(settings, locals, startedOn, () => {});
    const seconds = Math.round((performance.now() - began) / 1000);
    console.log(`    Pushed, signed and bundled in ${seconds} s.`);
  });
  after(() => registry?.stop());

  /** Creates a key pair: `PREFIX.key` and `PREFIX.pub`. */
  const makeKey = (run: ReleaseTools, prefix: string) =>
    run('cosign', 'generate-key-pair', '--output-key-prefix', prefix);

  it('has an image index for each image, with the architectures that were built', () => {
    expect(published.images.map(({ repository, tag }) => `${repository}:${tag}`)).to.deep.equal([
      `pressroom-api:${VERSION}`,
      `pressroom-worker:${VERSION}`,
      `pressroom-worker:${VERSION}-no-cjk`,
      `pressroom-controller:${VERSION}`,
    ]);
    const runs = ARCHITECTURES.filter(each => whyNotBuilt(each) === undefined);
    expect(runs).to.include(MACHINE);
    for (const { platforms } of published.images)
      expect(platforms.map(({ architecture }) => architecture)).to.deep.equal(runs);
    expect(notices.filter(line => line.startsWith('skipped: '))).to.deep.equal(
      ARCHITECTURES.filter(each => !runs.includes(each)).map(
        each => `skipped: ${each} images, because ${whyNotBuilt(each)}.`,
      ),
    );
  });

  it('is signed: indexes, images and the chart verify with the public key, without network', async () => {
    for (const each of [...published.images, published.chart])
      for (const digest of digestsOf(each))
        await verify(`${settings.registry}/${each.repository}@${digest}`);
  });

  it('does not verify with another key', async () => {
    await makeKey(tools, at('other'));
    const error = await verify(referenceOf('pressroom-api'), at('other.pub')).catch(
      (each: Error) => each.message,
    );
    expect(error).to.match(/^cosign verify: .*accepted signatures do not match/);
  });

  it('does not verify an image that was pushed to its tag later', async () => {
    const reference = `${settings.registry}/pressroom-controller:${VERSION}`;
    await verify(reference);
    await built.add('changed', 'FROM localhost/controller\nLABEL changed="yes"\n', at('empty'));
    await push('localhost/changed', reference);
    expect(await verify(reference).catch((error: Error) => error.message)).to.match(
      /no (matching )?signatures/i,
    );
  });

  it('has the provenance of images and chart: repository, commit, base image and builder', async () => {
    const chart = `${settings.registry}/${published.chart.repository}@${published.chart.digest}`;
    for (const reference of [referenceOf('pressroom-worker'), chart]) {
      const { buildDefinition, runDetails } = await attested(reference, 'slsaprovenance1');
      expect(buildDefinition.externalParameters).to.include({
        source: SOURCE,
        revision: REVISION,
        version: VERSION,
      });
      const dependencies = JSON.stringify(buildDefinition.resolvedDependencies);
      expect(dependencies).to.include(REVISION).and.include(baseImage().sha256);
      expect(runDetails.builder.id).to.equal(settings.builder);
    }
  });

  it('has an SBOM with npm packages, Debian packages, Node and Chromium', async () => {
    const { digest } = image('pressroom-worker').platforms[0]!;
    const sbom: SpdxDocument = await attested(referenceOf('pressroom-worker', digest), 'spdxjson');
    const file = `pressroom-worker-${VERSION}-${MACHINE}.spdx.json`;
    expect(JSON.parse(readFileSync(at('results', 'sbom', file), 'utf8'))).to.deep.equal(sbom);
    const purls = sbom.packages.flatMap(({ externalRefs = [] }) =>
      externalRefs.map(({ referenceLocator }) => referenceLocator),
    );
    const { root } = built.images['worker']!;
    const installed = readFileSync(join(root, 'var/lib/dpkg/status'), 'utf8').match(/^Package: /gm);
    expect(purls.filter(purl => purl.startsWith('pkg:deb/debian/'))).to.have.length(
      installed!.length,
    );
    const packages = JSON.parse(
      readFileSync(join(root, 'app/node_modules/.package-lock.json'), 'utf8'),
    ).packages as Record<string, { version: string }>;
    for (const [path, { version }] of Object.entries(packages))
      expect(purls).to.include(
        `pkg:npm/${path.split('node_modules/').at(-1)!.replace('@', '%40')}@${version}`,
      );
    expect(purls.join('\n'))
      .to.match(/^cpe:2\.3:a:nodejs:node\.js:24\.\d+\.\d+:\*/m)
      .and.match(/^cpe:2\.3:a:google:chrome:\d+(\.\d+){3}:\*/m)
      .and.match(/^pkg:deb\/debian\/chromium-headless-shell@.*&upstream=chromium/m);
    expect(sbom.creationInfo.created).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    const ids = sbom.packages.map(({ SPDXID }) => SPDXID);
    expect(new Set(ids).size).to.equal(ids.length);
  });

  it('has a chart whose images come from the registry of the release', async () => {
    const chart = `oci://${settings.registry}/${published.chart.repository}`;
    const version = ['--version', VERSION, '--plain-http'];
    const { image } = parse(await helm(['show', 'values', chart, ...version]));
    expect(image.registry).to.equal(settings.registry);
    const source = readFileSync(
      new URL('../../charts/pressroom/values.yaml', import.meta.url),
      'utf8',
    );
    expect({ ...image, registry: '' }).to.deep.equal(parse(source).image);
    expect(await helm(['show', 'chart', chart, ...version])).to.include(`appVersion: ${VERSION}`);
  });

  it('lists each image and the chart by digest', () => {
    expect(readFileSync(published.list, 'utf8').trim().split('\n')).to.deep.equal(
      [...published.images, published.chart].map(
        ({ repository, tag, digest }) => `${settings.registry}/${repository}:${tag}@${digest}`,
      ),
    );
  });

  it('pins the newest dated tag of the base image by its digest', async () => {
    const repository = `${registry!.host}/library/debian`;
    for (const [tag, local] of [
      ['bookworm-20260701-slim', 'localhost/api'],
      ['bookworm-20260801-slim', 'localhost/controller'],
      ['bookworm-slim', 'localhost/api'],
    ])
      await push(local!, `${repository}:${tag}`);
    const dockerfile = at('Dockerfile');
    await copyFile(new URL('../../Dockerfile', import.meta.url), dockerfile);
    const { ok, why } = await runCommand(
      fileURLToPath(new URL('../../release/refresh-base.sh', import.meta.url)),
      [],
      {
        timeoutMs: MINUTE_MS,
        env: {
          ...offline(),
          DOCKERFILE: dockerfile,
          REPOSITORY: repository,
          PLAIN_HTTP: 'yes',
        },
      },
    );
    expect(ok, why).to.equal(true);
    const digest = await resolve(`${repository}:bookworm-20260801-slim`);
    expect(readFileSync(dockerfile, 'utf8').match(/^ARG BASE=.*$/gm)).to.deep.equal([
      `ARG BASE=debian:bookworm-20260801-slim@${digest}`,
    ]);
  });

  it('has a signed bundle that fills another registry with the same digests and signatures', async () => {
    const { bundle, publicKey } = published;
    const signature = ['--bundle', `${bundle}.sigstore.json`];
    await cosign('verify-blob', '--key', publicKey, '--insecure-ignore-tlog', ...signature, bundle);
    const check = ['--check', '--status', `${bundle}.sha256`];
    const options = { timeoutMs: MINUTE_MS, cwd: at('results') };
    expect(await runCommand('sha256sum', check, options)).to.include({ ok: true });

    const [unpacked, folder] = [at('unpacked'), at('unpacked', `pressroom-${VERSION}-airgap`)];
    await mkdir(unpacked);
    await tools('tar', '--extract', '--file', bundle, '--directory', unpacked);
    expect(readdirSync(join(folder, 'sbom'))).to.have.length(
      published.images.flatMap(({ platforms }) => platforms).length,
    );
    for (const name of ['README.md', 'images.txt', 'digests.yaml', `pressroom-${VERSION}.tgz`])
      expect(existsSync(join(folder, name)), name).to.equal(true);
    await registry!.stop();
    const other = await startRegistry(at('other-registry'));
    try {
      const target = `${other.host}/mirror/pressroom`;
      const { ok, why } = await runCommand(join(folder, 'load.sh'), [target, '--to-plain-http'], {
        timeoutMs: 3 * MINUTE_MS,
        env: offline(),
      });
      expect(ok, why).to.equal(true);
      for (const { repository, tag, digest } of [...published.images, published.chart]) {
        expect(await resolve(`${target}/${repository}:${tag}`)).to.equal(digest);
        await verify(`${target}/${repository}:${tag}`);
      }
    } finally {
      await other.stop();
      registry = await startRegistry(at('registry'));
    }
  });

  it('is installed on a node from the chart in the registry, with images by digest', async function () {
    this.timeout(BUILD_LIMIT_MS + 15 * MINUTE_MS);
    const why = await whyNoRealCluster(console.log, ['helm']);
    if (why !== undefined) skip(this, why);
    const layout = await exportTestImages(built, at('node'), console.log);
    const began = performance.now();
    const real: RealCluster = await startRealCluster(PLAIN_IMAGE, console.log);
    let ofTheNode: Registry | undefined;
    try {
      await real.images.importImages(layout);
      // The same files, at an address that the node reaches.
      ofTheNode = await startRegistry(at('registry'), real.host.machineAddress);
      await real.images.addRegistry(REGISTRY_NAME, `http://${ofTheNode.host}`);
      const installation = await createInstallation(real, helm, {
        mongodbUri: await startDatabase(real.cluster),
        prometheusUrl: '',
      });
      const values = {
        image: { registry: `${REGISTRY_NAME}/pressroom` },
        mongodb: { existingSecret: 'pressroom-mongodb-uri' },
        seccompInstaller: { enabled: true },
        api: { service: { type: 'NodePort' }, resources: { requests: { cpu: '250m' } } },
        pool: { resources: { requests: { cpu: '10m', memory: '64Mi' } } },
      };
      const chart = `oci://${registry!.host}/pressroom/${published.chart.repository}`;
      await withValues(values, file =>
        installation.helm(
          ...['install', RELEASE, chart, '--version', VERSION, '--plain-http'],
          ...['--values', published.values, '--values', file, '--wait', '--timeout', '10m'],
        ),
      );
      await installation.untilPool('Ready');
      const [key] = (await installation.makeKeys(1)) as [string];
      const base = `http://${real.host.nodeAddress}:${await installation.nodePort()}`;
      expect(flaw(await render(base, key, { html: '<h1>By digest</h1>' }))).to.equal(undefined);
      const pods = await real.cluster.get(`/api/v1/namespaces/${installation.namespace}/pods`);
      const images = pods.items.flatMap((pod: { spec: { containers: { image: string }[] } }) =>
        pod.spec.containers.map(container => container.image),
      );
      expect(new Set(images)).to.deep.equal(
        new Set(
          ['pressroom-api', 'pressroom-worker', 'pressroom-controller'].map(
            name => `${REGISTRY_NAME}/pressroom/${name}@${image(name).digest}`,
          ),
        ),
      );
      console.log(
        `    From an empty node to a PDF in ${Math.round((performance.now() - began) / 1000)} s.`,
      );
    } catch (error) {
      console.log(await clusterDiagnostics(real, 'pdf'));
      throw error;
    } finally {
      await ofTheNode?.stop();
      await real.stop();
    }
  });
});
