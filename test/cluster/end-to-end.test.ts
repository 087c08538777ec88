// @proves idle-pods-first, real-node

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { skip } from '../support/skip.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { findHelm, type Helm } from './chart/helm.ts';
import { whyNoImages } from './image-build.ts';
import { BUILD_LIMIT_MS } from './kube/binaries.ts';
import { flaw, render, startCallers } from './node/callers.ts';
import { startDatabase } from './node/database.ts';
import { type Discovery, discoverPods } from './node/discovery.ts';
import { createInstallation, type Installation, POOL, RELEASE } from './node/installation.ts';
import { patiently } from './node/patiently.ts';
import { exportProduct, TAGS } from './node/product-images.ts';
import { type RealCluster, startRealCluster, whyNoRealCluster } from './node/real-cluster.ts';
import { PLAIN_IMAGE } from './node/test-images.ts';
import { whatIsThere } from './node/what-is-there.ts';
import { type Prometheus, startPrometheus } from './prometheus.ts';
import { type PrometheusBinaries, prometheusBinaries } from './prometheus-binaries.ts';

const MINUTE_MS = 60_000;
/** Renders that are made while the release goes to another tag and back; 2,000 in the long form. */
const UPGRADE_RENDERS = Number(process.env.PRESSROOM_UPGRADE_RENDERS ?? 300);
const INVOICE = {
  html: `<h1>Invoice</h1><table>${'<tr><td>one</td><td>line</td></tr>'.repeat(40)}</table>`,
};
/** Three times the window over which the load is averaged here. */
const SHORT_RENDERS_MS = 45_000;
/** On its slot for that long, and hardly any work. */
const slow = (seconds: number) => ({ html: '<h1>Slow</h1>', wait_delay: `${seconds}s` });

describe('Pressroom on a real node', function () {
  this.timeout(15 * MINUTE_MS);
  // Each step stands on the one before. Not by mocha's bail, for which a failure of any suite
  // before counts too.
  let failed: string | undefined;
  const at = temporaryFolder();
  let [real, prometheus, site]: [RealCluster?, Prometheus?, Installation?] = [];
  let discovery: Discovery | undefined;
  let helm: Helm;
  let binaries: PrometheusBinaries | undefined;
  let base = '';
  let keys: string[] = [];
  const kubectl = (...args: string[]) => real!.cluster.kubectl(...args);

  /**
   * The sizes that the pool is given, from the beginning of a burst until all of its pods are
   * ready.
   */
  async function sizesInBurst(lines: number, body: object) {
    const sizes: { atMs: number; pods: number }[] = [];
    const began = performance.now();
    const callers = startCallers(base, keys, lines, body);
    try {
      await patiently(async () => {
        const { desiredReplicas, readyReplicas } = (await site!.pool()).status;
        if (sizes.at(-1)?.pods !== desiredReplicas)
          sizes.push({ atMs: performance.now() - began, pods: desiredReplicas });
        if (desiredReplicas < 10 || readyReplicas < 10)
          throw new Error(`${readyReplicas} of ${desiredReplicas} pods are ready`);
      }, 5 * MINUTE_MS);
    } finally {
      await callers.stop();
    }
    return { sizes, flaws: callers.flaws };
  }

  before(async function () {
    this.timeout(BUILD_LIMIT_MS + 30 * MINUTE_MS);
    const why = (await whyNoRealCluster(console.log, ['helm'])) ?? (await whyNoImages(console.log));
    if (why !== undefined) skip(this, why);
    binaries = await prometheusBinaries(console.log);
    if (!binaries) skip(this, 'there is no Prometheus here and Debian’s could not be fetched');
    helm = await findHelm(this);
    const layout = await exportProduct(at(), console.log);
    real = await startRealCluster(PLAIN_IMAGE, console.log);
    await real.images.importImages(layout);
    prometheus = await startPrometheus({ binaries, everywhere: true });
    discovery = discoverPods(real.cluster, prometheus);
    const prometheusUrl = prometheus.url.replace('127.0.0.1', real.room.machineAddress);
    site = await createInstallation(real, helm, {
      mongodbUri: await startDatabase(real.cluster),
      prometheusUrl,
    });
  });
  beforeEach(function () {
    if (failed !== undefined) skip(this, `a step before did not work: ${failed}`);
  });
  afterEach(async function () {
    if (this.currentTest?.state !== 'failed') return;
    failed = this.currentTest.title;
    console.log(await whatIsThere(real!, site!.namespace));
  });
  after(async function () {
    this.timeout(3 * MINUTE_MS);
    await discovery?.stop();
    await prometheus?.stop();
    await real?.stop();
  });

  it('is installed with one command, in a namespace where pod security `restricted` is enforced', async () => {
    await site!.install(TAGS.first);
    await site!.untilPool('Ready');
    base = `http://${real!.room.nodeAddress}:${await site!.nodePort()}`;
  });

  it('passes its own `helm test`', async () => {
    await site!.helm('test', RELEASE, '--timeout', '10m');
  });

  it('gives accounts and keys by the command in the API’s pod, and renders with them through the Service', async () => {
    // A burst of 40 is within the limits of five.
    keys = await site!.makeKeys(5);
    const answer = await render(base, keys[0]!, INVOICE);
    expect(flaw(answer)).to.equal(undefined);
  });

  it('runs Chrome with its own sandbox on', async () => {
    expect((await site!.condition('ChromeSandboxed'))?.status).to.equal('True');
    const [pod] = await site!.workers();
    expect(pod.spec.securityContext.seccompProfile).to.deep.equal({
      type: 'Localhost',
      localhostProfile: 'pressroom/chrome.json',
    });
    // A renderer that is sandboxed lives in a user namespace of its own, other than that of the
    // worker's Node.
    const spaces = await real!.room.run(
      'sh',
      '-c',
      `for process in /proc/[0-9]*; do
        words=$(tr '\\0' ' ' <$process/cmdline 2>/dev/null) || continue
        case "$words" in
          *--type=zygote*) echo "zygote $(readlink $process/ns/user) $words" ;;
          *worker/main.ts*) echo "worker $(readlink $process/ns/user)" ;;
        esac
      done`,
    );
    expect(spaces)
      .to.match(/^zygote /m)
      .and.not.include('--no-sandbox');
    const spaceOf = (program: string) =>
      new Set(
        [...spaces.matchAll(new RegExp(`^${program} (\\S+)`, 'gm'))].map(([, space]) => space),
      );
    const [zygotes, workers] = [spaceOf('zygote'), spaceOf('worker')];
    expect(
      [...zygotes].some(space => !workers.has(space)),
      spaces,
    ).to.equal(true);
  });

  it('says in the condition ChromeSandboxed and in the log when the profile is missing on the node', async () => {
    const other = 'without-profile';
    const pool = await site!.pool();
    const template = {
      ...pool.spec.template,
      chromeSandbox: { mode: 'LocalhostProfile', localhostProfile: 'pressroom/absent.json' },
    };
    await real!.cluster.apply([
      {
        apiVersion: pool.apiVersion,
        kind: pool.kind,
        metadata: { name: other, namespace: pool.metadata.namespace },
        spec: { ...pool.spec, replicas: 1, template },
      },
    ]);
    const condition = await patiently(async () => {
      const found = await site!.condition('ChromeSandboxed', other);
      if (found?.status !== 'False') throw new Error(`the condition is ${JSON.stringify(found)}`);
      return found;
    }, 5 * MINUTE_MS);
    expect(condition.reason).to.equal('SeccompProfileMissing');
    expect(condition.message)
      .to.include('pressroom/absent.json')
      .and.include('node one')
      .and.include('installer of the chart');
    expect(await site!.logs('controller')).to.match(/SeccompProfileMissing/);
    await kubectl('delete', 'browserpool', other, `--namespace=${pool.metadata.namespace}`);
    await patiently(async () => {
      expect(await site!.workers(other)).to.have.length(0);
    }, 5 * MINUTE_MS);
  });

  it('grows with a burst to as many real pods as the load needs, though the leading controller is killed in the middle of it', async () => {
    await site!.patchPool({ scaling: { maxReplicas: 3 } });
    const callers = startCallers(base, keys, 24, slow(2));
    try {
      await site!.untilReadyWorkers(count => count === 3);
      const leader = await site!.leader();
      await kubectl(
        'delete',
        'pod',
        leader,
        `--namespace=${site!.namespace}`,
        '--grace-period=0',
        '--force',
      );
      await patiently(async () => {
        if ((await site!.leader()) === leader) throw new Error(`${leader} still leads`);
      }, 3 * MINUTE_MS);
      // Whoever leads now has more to do.
      await site!.patchPool({ scaling: { maxReplicas: 10 } });
      await site!.untilReadyWorkers(count => count === 10);
      expect((await site!.condition('MetricsAvailable'))?.status).to.equal('True');
    } finally {
      await callers.stop();
    }
    expect(callers.good()).to.be.above(0);
  });

  it('removes three idle pods of ten and none of those that render', async () => {
    await site!.patchPool({ replicas: 10 });
    await site!.untilReadyWorkers(count => count === 10);
    await prometheus!.until(
      `sum(pressroom_slots{pool="${POOL}",state="claimed"})`,
      ([sum]) => sum?.value === 0,
    );
    const callers = startCallers(base, keys, 7, slow(30));
    let busy: string[];
    try {
      // What the controller knows is a scrape and a question old.
      await prometheus!.until(`pressroom_pool_busy_slots{pool="${POOL}"} == 7`);
      const claimed = await prometheus!.query(
        `pressroom_slots{pool="${POOL}",state="claimed"} > 0`,
      );
      busy = claimed.map(({ labels }) => labels.pod!);
      await site!.patchPool({ replicas: 7 });
      await patiently(async () => {
        expect(await site!.workers()).to.have.length(7);
      }, 2 * MINUTE_MS);
    } finally {
      await callers.stop();
    }
    expect((await site!.workers()).map(({ metadata }) => metadata.name)).to.include.members(busy);
    expect(callers.flaws).to.deep.equal([]);
  });

  it('shrinks to its smallest size when it is quiet', async () => {
    await site!.patchPool({ replicas: null });
    await patiently(async () => {
      expect(await site!.workers()).to.have.length(1);
    }, 10 * MINUTE_MS);
    await site!.untilPool('Ready');
  });

  it('asks at once for all pods that a burst of long renders needs, after many short ones, with a scrape every 5 s', async () => {
    const slowly = await startPrometheus({ binaries: binaries!, everywhere: true, intervalS: 5 });
    const found = discoverPods(real!.cluster, slowly);
    try {
      await site!.patchPool({ scaling: { minReplicas: 3, maxReplicas: 10 } });
      await site!.upgrade(TAGS.first, {
        prometheus: { url: slowly.url.replace('127.0.0.1', real!.room.machineAddress) },
      });
      await site!.untilReadyWorkers(count => count === 3);
      const short = startCallers(base, keys, 2, INVOICE);
      await sleep(SHORT_RENDERS_MS);
      await short.stop();
      expect(short.flaws).to.deep.equal([]);
      const { sizes, flaws } = await sizesInBurst(40, slow(8));
      console.log(
        `      ${sizes.map(({ atMs, pods }) => `${pods} pods after ${(atMs / 1_000).toFixed(1)} s`).join(', ')}`,
      );
      expect(flaws).to.deep.equal([]);
      expect(sizes.map(({ pods }) => pods)).to.satisfy(
        (asked: number[]) => asked.at(-1) === 10 && asked.length <= 3,
      );
    } finally {
      await found.stop();
      await slowly.stop();
    }
    await site!.upgrade(TAGS.first);
    await site!.patchPool({ scaling: { minReplicas: 1 } });
  });

  it(`loses none of ${UPGRADE_RENDERS} renders while \`helm upgrade\` goes to another tag and back`, async function () {
    this.timeout(60 * MINUTE_MS);
    await site!.patchPool({ replicas: 2 });
    await site!.untilReadyWorkers(count => count === 2);
    const callers = startCallers(base, keys, 4, INVOICE);
    try {
      for (const tag of [TAGS.next, TAGS.first]) {
        await site!.upgrade(tag);
        await site!.untilImages(tag);
      }
      await patiently(() => {
        if (callers.good() + callers.flaws.length < UPGRADE_RENDERS)
          throw new Error(`only ${callers.good()} renders were made`);
      }, 30 * MINUTE_MS);
    } finally {
      await callers.stop();
    }
    console.log(`      ${callers.good()} renders were made meanwhile.`);
    expect(callers.flaws).to.deep.equal([]);
  });

  it('renders elsewhere what a pod had when that is deleted without grace', async () => {
    await site!.patchPool({ replicas: 4 });
    await site!.untilReadyWorkers(count => count === 4);
    const retries = async () =>
      (await prometheus!.query('sum(pressroom_render_retries_total)'))[0]?.value ?? 0;
    const before = await retries();
    const running = Promise.all(
      Array.from({ length: 4 }, (_, index) => render(base, keys[index % keys.length]!, slow(25))),
    );
    running.catch(() => {}); // told below
    const [claimed] = await prometheus!.until(
      `pressroom_slots{pool="${POOL}",state="claimed"} > 0`,
      samples => samples.length > 0,
    );
    await kubectl(
      'delete',
      'pod',
      claimed!.labels.pod!,
      `--namespace=${site!.namespace}`,
      '--grace-period=0',
      '--force',
    );
    expect((await running).map(flaw)).to.deep.equal([undefined, undefined, undefined, undefined]);
    await patiently(async () => {
      expect(await retries()).to.be.above(before);
    }, MINUTE_MS);
    await site!.untilReadyWorkers(count => count === 4);
  });

  it('lets a drain of the node take away no more pods at once than its budget allows', async () => {
    const callers = startCallers(base, keys, 2, INVOICE);
    try {
      const drain = [
        'drain',
        'one',
        `--pod-selector=pressroom.dev/pool=${POOL}`,
        '--ignore-daemonsets',
        '--delete-emptydir-data',
      ];
      // What was taken away finds no other node, so that the next one may not go.
      const refused = await kubectl(...drain, '--timeout=30s').then(
        () => 'all pods were taken away',
        (error: Error) => error.message,
      );
      expect(refused).to.match(/disruption budget/);
      const left = (await site!.workers()).filter(
        ({ spec, metadata }) => spec.nodeName && !metadata.deletionTimestamp,
      );
      expect(left).to.have.length(3);
    } finally {
      await kubectl('uncordon', 'one');
      await callers.stop();
    }
    expect(callers.flaws).to.deep.equal([]);
    await site!.untilReadyWorkers(count => count === 4);
  });

  it('leaves the definition of pools and the Secret behind when it is uninstalled, and nothing else', async () => {
    const before = await site!.secret();
    await site!.helm('uninstall', RELEASE, '--wait', '--timeout', '5m');
    await patiently(async () => {
      expect(await site!.leftovers()).to.deep.equal([`secret/${RELEASE}-secrets`]);
    }, 5 * MINUTE_MS);
    expect(await site!.secret()).to.deep.equal(before);
    expect(await kubectl('get', 'crd', 'browserpools.pressroom.dev', '--output=name')).to.include(
      'browserpools',
    );
    await patiently(async () => {
      expect(await real!.cluster.get('/api/v1/namespaces/pressroom-seccomp')).to.equal(undefined);
    }, 2 * MINUTE_MS);
  });
});
