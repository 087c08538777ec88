// @proves idle-pods-first, real-node, workers-without-controller

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { hostilePages } from '../support/pages/hostile-pages.ts';
import { skip } from '../support/skip.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { findHelm, type Helm, type Values } from './chart/helm.ts';
import { whyNoImages } from './image-build.ts';
import type { Json } from './kube/api-request.ts';
import { BUILD_LIMIT_MS } from './kube/binaries.ts';
import { flaw, render, startCallers } from './node/callers.ts';
import { clusterDiagnostics } from './node/cluster-diagnostics.ts';
import { startDatabase } from './node/database.ts';
import { type Discovery, discoverPods } from './node/discovery.ts';
import { createInstallation, type Installation, POOL, RELEASE } from './node/installation.ts';
import { expectDoctorFindings, expectSafeBundle, useSecretFiles } from './node/operator-checks.ts';
import { exportProduct, TAGS } from './node/product-images.ts';
import { type RealCluster, startRealCluster, whyNoRealCluster } from './node/real-cluster.ts';
import { PLAIN_IMAGE } from './node/test-images.ts';
import { untilSuccess } from './node/until-success.ts';
import { type Prometheus, startPrometheus } from './prometheus.ts';
import { type PrometheusBinaries, prometheusBinaries } from './prometheus-binaries.ts';

const MINUTE_MS = 60_000;
/** Renders during the upgrade to another tag and back; 2,000 in the long run. */
const UPGRADE_RENDERS = Number(process.env.PRESSROOM_UPGRADE_RENDERS ?? 300);
const INVOICE = {
  html: `<h1>Invoice</h1><table>${'<tr><td>one</td><td>line</td></tr>'.repeat(40)}</table>`,
};
/** Three times the stable window. */
const SHORT_RENDERS_MS = 45_000;
const REPORT = { html: INVOICE.html.repeat(20) };
const MEMORY_PAGES = hostilePages.filter(({ name }) => /^(Blobs|memory to the bound)$/.test(name));
const restarts = ({ status }: Json): number => status.containerStatuses?.[0]?.restartCount ?? 0;
/** A render that holds its slot for this time with little work. */
const slow = (seconds: number) => ({ html: '<h1>Slow</h1>', wait_delay: `${seconds}s` });

describe('Pressroom on a real node', function () {
  this.timeout(15 * MINUTE_MS);
  // Each step depends on the previous one. Mocha's bail would also count failures of other suites.
  let failed: string | undefined;
  const at = temporaryFolder();
  let [real, prometheus, release]: [RealCluster?, Prometheus?, Installation?] = [];
  let discovery: Discovery | undefined;
  let helm: Helm;
  let binaries: PrometheusBinaries | undefined;
  let [base, prometheusUrl] = ['', ''];
  let keys: string[] = [];
  const kubectl = (...args: string[]) => real!.cluster.kubectl(...args);

  /** The desired sizes of the pool from the start of a burst until all pods are ready. */
  async function sizesInBurst(concurrency: number, body: object) {
    const sizes: { atMs: number; pods: number }[] = [];
    const began = performance.now();
    const callers = startCallers(base, keys, concurrency, body);
    try {
      await untilSuccess(async () => {
        const { desiredReplicas, readyReplicas } = (await release!.pool()).status;
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
    if (!binaries) skip(this, 'Prometheus is not installed and could not be downloaded');
    helm = await findHelm(this);
    const layout = await exportProduct(at(), console.log);
    real = await startRealCluster(PLAIN_IMAGE, console.log);
    await real.images.importImages(layout);
    prometheus = await startPrometheus({ binaries, everywhere: true });
    discovery = discoverPods(real.cluster, prometheus);
    prometheusUrl = prometheus.url.replace('127.0.0.1', real.host.machineAddress);
    release = await createInstallation(real, helm, {
      mongodbUri: await startDatabase(real.cluster),
      prometheusUrl,
    });
  });
  beforeEach(function () {
    if (failed !== undefined) skip(this, `a previous step failed: ${failed}`);
  });
  afterEach(async function () {
    if (this.currentTest?.state !== 'failed') return;
    failed = this.currentTest.title;
    console.log(await clusterDiagnostics(real!, release!.namespace));
  });
  after(async function () {
    this.timeout(3 * MINUTE_MS);
    await discovery?.stop();
    await prometheus?.stop();
    await real?.stop();
  });

  it('is installed in a namespace that enforces the Pod Security Standard `restricted`', async () => {
    await release!.install(TAGS.first);
    await release!.untilPool('Ready');
    base = `http://${real!.host.nodeAddress}:${await release!.nodePort()}`;
  });

  it('passes `helm test`', async () => {
    await release!.helm('test', RELEASE, '--timeout', '10m');
  });

  it('creates accounts and API keys in the API pod, and renders with them through the Service', async () => {
    // Five accounts allow a burst of 40 renders.
    keys = await release!.makeKeys(5);
    const response = await render(base, keys[0]!, INVOICE);
    expect(flaw(response)).to.equal(undefined);
  });

  it('passes `pressroom doctor` in the API pod but for its single MongoDB and plain HTTP', async () => {
    // A scrape of the new processes.
    await prometheus!.until(`pressroom_slots{pool="${POOL}"}`, samples => samples.length > 0);
    await expectDoctorFindings(release!, prometheusUrl);
  });

  it('collects a support bundle of all pods that contains no secret', async () => {
    await expectSafeBundle(real!.cluster, release!, { base, keys, folder: at('bundle') });
  });

  it('runs Chrome with its sandbox on', async () => {
    expect((await release!.condition('ChromeSandboxed'))?.status).to.equal('True');
    const [pod] = await release!.workers();
    expect(pod.spec.securityContext.seccompProfile).to.deep.equal({
      type: 'Localhost',
      localhostProfile: 'pressroom/chrome.json',
    });
    // A sandboxed renderer is in another user namespace than the worker process.
    const spaces = await real!.host.run(
      'sh',
      '-c',
      `for process in /proc/[0-9]*; do
        args=$(tr '\\0' ' ' <$process/cmdline 2>/dev/null) || continue
        case "$args" in
          *--type=zygote*) echo "zygote $(readlink $process/ns/user) $args" ;;
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

  it('reports a missing seccomp profile in the condition ChromeSandboxed and in the log', async () => {
    const other = 'without-profile';
    const pool = await release!.pool();
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
    const condition = await untilSuccess(async () => {
      const found = await release!.condition('ChromeSandboxed', other);
      if (found?.status !== 'False') throw new Error(`the condition is ${JSON.stringify(found)}`);
      return found;
    }, 5 * MINUTE_MS);
    expect(condition.reason).to.equal('SeccompProfileMissing');
    expect(condition.message)
      .to.include('pressroom/absent.json')
      .and.include('node one')
      .and.include('seccompInstaller.enabled=true');
    expect(await release!.logs('controller')).to.match(/SeccompProfileMissing/);
    await kubectl('delete', 'browserpool', other, `--namespace=${pool.metadata.namespace}`);
    await untilSuccess(async () => {
      expect(await release!.workers(other)).to.have.length(0);
    }, 5 * MINUTE_MS);
  });

  it('scales up in a burst although the leader is killed meanwhile', async () => {
    await release!.patchPool({ scaling: { maxReplicas: 3 } });
    const callers = startCallers(base, keys, 24, slow(2));
    try {
      await release!.untilReadyWorkers(count => count === 3);
      const leader = await release!.leader();
      await kubectl(
        'delete',
        'pod',
        leader,
        `--namespace=${release!.namespace}`,
        '--grace-period=0',
        '--force',
      );
      await untilSuccess(async () => {
        if ((await release!.leader()) === leader) throw new Error(`${leader} is still the leader`);
      }, 3 * MINUTE_MS);
      // The new leader has to scale up further.
      await release!.patchPool({ scaling: { maxReplicas: 10 } });
      await release!.untilReadyWorkers(count => count === 10);
      expect((await release!.condition('MetricsAvailable'))?.status).to.equal('True');
    } finally {
      await callers.stop();
    }
    expect(callers.good()).to.be.above(0);
  });

  it('removes three idle pods of ten and no busy pod', async () => {
    await release!.patchPool({ replicas: 10 });
    await release!.untilReadyWorkers(count => count === 10);
    await prometheus!.until(
      `sum(pressroom_slots{pool="${POOL}",state="claimed"})`,
      ([sum]) => sum?.value === 0,
    );
    // The controller may still report the busy slots of the burst, such as 7.
    await prometheus!.until(`max(pressroom_pool_busy_slots{pool="${POOL}"}) == 0`);
    const callers = startCallers(base, keys, 7, slow(30));
    let busy: string[];
    try {
      // Waits until the controller has read the load, which lags by a scrape and a query.
      await prometheus!.until(`pressroom_pool_busy_slots{pool="${POOL}"} == 7`);
      const claimed = await prometheus!.query(
        `pressroom_slots{pool="${POOL}",state="claimed"} > 0`,
      );
      busy = claimed.map(({ labels }) => labels.pod!);
      await release!.patchPool({ replicas: 7 });
      await untilSuccess(async () => {
        expect(await release!.workers()).to.have.length(7);
      }, 2 * MINUTE_MS);
    } finally {
      await callers.stop();
    }
    expect((await release!.workers()).map(({ metadata }) => metadata.name)).to.include.members(
      busy,
    );
    expect(callers.flaws).to.deep.equal([]);
  });

  it('shrinks to minReplicas without load', async () => {
    await release!.patchPool({ replicas: null });
    await untilSuccess(async () => {
      expect(await release!.workers()).to.have.length(1);
    }, 10 * MINUTE_MS);
    await release!.untilPool('Ready');
  });

  it('scales up immediately for a burst of long renders after many short ones', async () => {
    const slowPrometheus = await startPrometheus({
      binaries: binaries!,
      everywhere: true,
      intervalS: 5,
    });
    const found = discoverPods(real!.cluster, slowPrometheus);
    try {
      await release!.patchPool({ scaling: { minReplicas: 3, maxReplicas: 10 } });
      await release!.upgrade(TAGS.first, {
        prometheus: { url: slowPrometheus.url.replace('127.0.0.1', real!.host.machineAddress) },
      });
      await release!.untilReadyWorkers(count => count === 3);
      const short = startCallers(base, keys, 2, INVOICE);
      await sleep(SHORT_RENDERS_MS);
      await short.stop();
      expect(short.flaws).to.deep.equal([]);
      await slowPrometheus.untilLongestPause('pressroom_queue_depth');
      const { sizes, flaws } = await sizesInBurst(40, slow(8));
      console.log(
        `      ${sizes.map(({ atMs, pods }) => `${pods} pods after ${(atMs / 1_000).toFixed(1)} s`).join(', ')}`,
      );
      expect(flaws).to.deep.equal([]);
      expect(sizes.map(({ pods }) => pods)).to.satisfy(
        (desired: number[]) => desired.at(-1) === 10 && desired.length <= 3,
      );
    } finally {
      await found.stop();
      await slowPrometheus.stop();
    }
    await release!.upgrade(TAGS.first);
    await release!.patchPool({ scaling: { minReplicas: 1 } });
  });

  it(`loses none of ${UPGRADE_RENDERS} renders during \`helm upgrade\` to another tag and back`, async function () {
    this.timeout(60 * MINUTE_MS);
    await release!.patchPool({ replicas: 2 });
    await release!.untilReadyWorkers(count => count === 2);
    const callers = startCallers(base, keys, 4, INVOICE);
    try {
      for (const tag of [TAGS.next, TAGS.first]) {
        await release!.upgrade(tag);
        await release!.untilImages(tag);
      }
      await untilSuccess(() => {
        if (callers.good() + callers.flaws.length < UPGRADE_RENDERS)
          throw new Error(`only ${callers.good()} renders finished`);
      }, 30 * MINUTE_MS);
    } finally {
      await callers.stop();
    }
    console.log(`      ${callers.good()} renders finished during the upgrades.`);
    expect(callers.flaws).to.deep.equal([]);
  });

  it('upgrades workers of 8 slots with default memory under heavy pages, without OOM kill, restart or eviction', async function () {
    this.timeout(30 * MINUTE_MS);
    // The node has fewer cores than the default request of 8 slots. Memory stays the chart's.
    const eightSlots: Values = {
      pool: { slotsPerPod: 8, resources: { requests: { cpu: '10m' } } },
    };
    await release!.patchPool({ replicas: 1 });
    await release!.upgrade(TAGS.first, eightSlots);
    await untilSuccess(async () => {
      const workers = await release!.workers();
      const limits = workers.map(({ spec }) => spec.containers[0].resources.limits.memory);
      if (!/^13(Gi|312Mi)$/.test(limits.join()))
        throw new Error(`memory limits of the workers: ${limits}`);
    }, 5 * MINUTE_MS);
    await release!.untilReadyWorkers(count => count === 1);
    const hostile = MEMORY_PAGES.map(page =>
      startCallers(base, [keys[0]!], 2, { html: page.html(base), ...page.fields }),
    );
    const ordinary = startCallers(base, keys.slice(1), 4, REPORT);
    const before = new Map<string, number>();
    try {
      // Every slot has met pages that fill its memory.
      await untilSuccess(() => {
        if (hostile.some(({ flaws }) => flaws.length < 4)) throw new Error('too few heavy pages');
      }, 10 * MINUTE_MS);
      for (const pod of await release!.workers()) before.set(pod.metadata.name, restarts(pod));
      await release!.upgrade(TAGS.next, eightSlots);
      await release!.untilImages(TAGS.next);
      await sleep(SHORT_RENDERS_MS);
    } finally {
      await Promise.all([...hostile, ordinary].map(callers => callers.stop()));
    }
    const pods = await release!.workers();
    const peaks = await Promise.all(pods.map(({ metadata }) => release!.memoryPeak(metadata.name)));
    console.log(
      `      ${ordinary.good()} reports beside ${hostile.flatMap(({ flaws }) => flaws).length} heavy pages; peak memory ${peaks.join(', ')} MiB`,
    );
    expect(ordinary.flaws).to.deep.equal([]);
    expect([...before.values(), ...pods.map(restarts)].every(count => count === 0)).to.equal(true);
    const events: Json[] = (
      await real!.cluster.get(`/api/v1/namespaces/${release!.namespace}/events`)
    ).items;
    expect(
      events.filter(({ reason }) => /OOM|Evict/i.test(reason)).map(({ message }) => message),
    ).to.deep.equal([]);
  });

  it('renders with secrets that are mounted as files', async () => {
    await useSecretFiles(real!.cluster, release!, TAGS.first);
    expect(flaw(await render(base, keys[0]!, INVOICE))).to.equal(undefined);
  });

  it('retries the renders of a pod that is deleted without a grace period', async () => {
    await release!.patchPool({ replicas: 4 });
    await release!.untilReadyWorkers(count => count === 4);
    const retries = async () =>
      (await prometheus!.query('sum(pressroom_render_retries_total)'))[0]?.value ?? 0;
    const before = await retries();
    const running = Promise.all(
      Array.from({ length: 4 }, (_, index) => render(base, keys[index % keys.length]!, slow(25))),
    );
    running.catch(() => {}); // awaited below
    const [claimed] = await prometheus!.until(
      `pressroom_slots{pool="${POOL}",state="claimed"} > 0`,
      samples => samples.length > 0,
    );
    await kubectl(
      'delete',
      'pod',
      claimed!.labels.pod!,
      `--namespace=${release!.namespace}`,
      '--grace-period=0',
      '--force',
    );
    expect((await running).map(flaw)).to.deep.equal([undefined, undefined, undefined, undefined]);
    await untilSuccess(async () => {
      expect(await retries()).to.be.above(before);
    }, MINUTE_MS);
    await release!.untilReadyWorkers(count => count === 4);
  });

  it('limits a node drain by its PodDisruptionBudget', async () => {
    const callers = startCallers(base, keys, 2, INVOICE);
    try {
      const drain = [
        'drain',
        'one',
        `--pod-selector=pressroom.dev/pool=${POOL}`,
        '--ignore-daemonsets',
        '--delete-emptydir-data',
      ];
      // An evicted pod cannot be scheduled on another node, so the next one must not be evicted.
      const message = await kubectl(...drain, '--timeout=30s').then(
        () => 'all pods were evicted',
        (error: Error) => error.message,
      );
      expect(message).to.match(/disruption budget/);
      const left = (await release!.workers()).filter(
        ({ spec, metadata }) => spec.nodeName && !metadata.deletionTimestamp,
      );
      expect(left).to.have.length(3);
    } finally {
      await kubectl('uncordon', 'one');
      await callers.stop();
    }
    expect(callers.flaws).to.deep.equal([]);
    await release!.untilReadyWorkers(count => count === 4);
  });

  it('leaves only the CRD and the Secret behind when it is uninstalled', async () => {
    const before = await release!.secret();
    await release!.helm('uninstall', RELEASE, '--wait', '--timeout', '5m');
    await untilSuccess(async () => {
      expect(await release!.leftovers()).to.deep.equal([`secret/${RELEASE}-secrets`]);
    }, 5 * MINUTE_MS);
    expect(await release!.secret()).to.deep.equal(before);
    expect(await kubectl('get', 'crd', 'browserpools.pressroom.dev', '--output=name')).to.include(
      'browserpools',
    );
    await untilSuccess(async () => {
      expect(await real!.cluster.get('/api/v1/namespaces/pressroom-seccomp')).to.equal(undefined);
    }, 2 * MINUTE_MS);
  });

  it('renders without the controller and the CRD, with workers as a plain Deployment', async () => {
    await kubectl('delete', 'crd', 'browserpools.pressroom.dev');
    await release!.install(TAGS.first, { autoscaling: { mode: 'none' } }, '--skip-crds');
    const url = `http://${real!.host.nodeAddress}:${await release!.nodePort()}`;
    expect(flaw(await render(url, keys[0]!, INVOICE))).to.equal(undefined);
    expect(await release!.workers()).to.have.length(1);
    const mine = await kubectl('get', 'crd,lease,clusterrole', '--all-namespaces', '--output=name');
    expect(mine).not.to.match(/pressroom/);
    // The HPA finds the Deployment and its size. There is no metrics adapter in this cluster.
    await release!.upgrade(TAGS.first, { autoscaling: { mode: 'hpa' } });
    const hpa = `hpa/${POOL}-workers`;
    const scaled = ['wait', '--for=condition=AbleToScale', hpa, '--timeout=2m'];
    await kubectl(...scaled, `--namespace=${release!.namespace}`);
    expect(flaw(await render(url, keys[0]!, INVOICE))).to.equal(undefined);
  });
});
