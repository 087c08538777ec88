// @proves upgrades-under-load

import { execFile } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { REPOSITORY_ROOT } from '../../release/build-image.ts';
import { productImages, TARGETS } from '../cluster/built-product.ts';
import { findHelm, type Helm } from '../cluster/chart/helm.ts';
import { whyNoImages } from '../cluster/image-build.ts';
import { BUILD_LIMIT_MS } from '../cluster/kube/binaries.ts';
import { startCallers } from '../cluster/node/callers.ts';
import { clusterDiagnostics } from '../cluster/node/cluster-diagnostics.ts';
import { startDatabase } from '../cluster/node/database.ts';
import { type Discovery, discoverPods } from '../cluster/node/discovery.ts';
import { createInstallation, type Installation, RELEASE } from '../cluster/node/installation.ts';
import { exportProduct, TAGS } from '../cluster/node/product-images.ts';
import {
  type RealCluster,
  startRealCluster,
  whyNoRealCluster,
} from '../cluster/node/real-cluster.ts';
import { fullName, nameForContainerd, PLAIN_IMAGE } from '../cluster/node/test-images.ts';
import { type Prometheus, startPrometheus } from '../cluster/prometheus.ts';
import { prometheusBinaries } from '../cluster/prometheus-binaries.ts';
import { commandOf } from '../support/readme-commands.ts';
import { skip } from '../support/skip.ts';
import { temporaryFolder } from '../support/temporary.ts';

const run = promisify(execFile);

const MINUTE_MS = 60_000;
/** The version before the chart had modes, a Gateway, and a Lease of the controller's own. */
const EARLIER = '9fbe0ea082932b9237623b2bcb5585d425644267';
const EARLIER_TAG = 'earlier';
const CALLERS = 4;
const INVOICE = {
  html: `<h1>Invoice</h1><table>${'<tr><td>one</td><td>line</td></tr>'.repeat(40)}</table>`,
};

/** Writes the files of that commit to `folder`, which is created. */
async function checkOut(commit: string, folder: string): Promise<void> {
  await mkdir(folder);
  const archive = `${folder}.tar`;
  await run('git', ['-C', REPOSITORY_ROOT, 'archive', `--output=${archive}`, commit]);
  await run('tar', ['-xf', archive, '-C', folder]);
}

/** Adds the images that the Dockerfile in `source` describes to the layout. */
async function addImages(source: string, layout: string): Promise<void> {
  const built = await productImages();
  const dockerfile = await readFile(join(source, 'Dockerfile'), 'utf8');
  for (const target of TARGETS) {
    const image = `${target}-${EARLIER_TAG}`;
    // The last stage is the one that is built.
    await built.add(image, `${dockerfile}\nFROM ${target}\n`, source);
    await built.exportTo(layout, image, fullName(`pressroom-${target}`, EARLIER_TAG));
  }
  await nameForContainerd(layout);
}

describe('upgrades over two versions, and back', function () {
  this.timeout(60 * MINUTE_MS);
  const at = temporaryFolder();
  let [real, prometheus, release]: [RealCluster?, Prometheus?, Installation?] = [];
  let discovery: Discovery | undefined;
  let helm: Helm;

  before(async function () {
    this.timeout(BUILD_LIMIT_MS + 60 * MINUTE_MS);
    const why = (await whyNoRealCluster(console.log, ['helm'])) ?? (await whyNoImages(console.log));
    if (why !== undefined) skip(this, why);
    const isKnown = await run('git', ['-C', REPOSITORY_ROOT, 'cat-file', '-e', EARLIER]).then(
      () => true,
      () => false,
    );
    if (!isKnown) skip(this, `the commit ${EARLIER} is not in this clone`);
    const binaries = await prometheusBinaries(console.log);
    if (!binaries) skip(this, 'Prometheus is not installed and could not be downloaded');
    helm = await findHelm(this);
    const source = at('source');
    await checkOut(EARLIER, source);
    const layout = await exportProduct(at(), console.log);
    await addImages(source, layout);
    real = await startRealCluster(PLAIN_IMAGE, console.log);
    await real.images.importImages(layout);
    prometheus = await startPrometheus({ binaries: binaries!, everywhere: true });
    discovery = discoverPods(real.cluster, prometheus);
    release = await createInstallation(real, helm, {
      mongodbUri: await startDatabase(real.cluster),
      prometheusUrl: prometheus.url.replace('127.0.0.1', real.host.machineAddress),
      installedChart: join(source, 'charts/pressroom'),
    });
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed')
      console.log(await clusterDiagnostics(real!, release!.namespace));
  });
  after(async function () {
    this.timeout(3 * MINUTE_MS);
    await discovery?.stop();
    await prometheus?.stop();
    await real?.stop();
  });

  /** Runs a command of docs/upgrading.md. */
  const documented = async (beginning: string) => {
    const command = commandOf('docs/upgrading.md', `kubectl --namespace pressroom ${beginning}`);
    const [, ...args] = command.split(' ');
    await real!.cluster.kubectl(...args);
  };
  const rollback = (revision: number) =>
    release!.helm('rollback', RELEASE, String(revision), '--wait', '--timeout', '10m');

  it('lose no render', async () => {
    await release!.install(EARLIER_TAG);
    await release!.untilPool('Ready');
    await release!.patchPool({ replicas: 2 });
    await release!.untilReadyWorkers(count => count === 2);
    const base = `http://${real!.host.nodeAddress}:${await release!.nodePort()}`;
    const callers = startCallers(base, await release!.makeKeys(CALLERS), CALLERS, INVOICE);
    const begin = performance.now();
    const done = async (tag: string) => {
      await release!.untilImages(tag);
      const seconds = Math.round((performance.now() - begin) / 1_000);
      console.log(`      ${tag} after ${seconds} s, ${callers.good()} renders`);
      expect(callers.flaws, tag).to.deep.equal([]);
    };
    try {
      await release!.upgrade(TAGS.first);
      await done(TAGS.first);
      await release!.upgrade(TAGS.next);
      await done(TAGS.next);
      await rollback(2);
      await done(TAGS.first);
      await documented('scale');
      await documented('wait');
      await documented('delete lease');
      await rollback(1);
      await done(EARLIER_TAG);
      await release!.untilReadyWorkers(count => count === 2);
    } finally {
      await callers.stop();
    }
    expect(callers.flaws).to.deep.equal([]);
    expect(callers.good()).to.be.above(100);
  });
});
