import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { processOf } from '../../support/processes.ts';
import { skip } from '../../support/skip.ts';
import type { Json } from './api-request.ts';
import { countBy } from './audit.ts';
import { BUILD_LIMIT_MS } from './binaries.ts';
import { type Cluster, type ClusterOptions, startCluster, whyNoCluster } from './cluster.ts';
import { SIMULATED } from './kwok.ts';

const MINUTE_MS = 60_000;
const MANY = 50;

const lives = (pid: number) => processOf(pid)?.isZombie === false;

const deployment = (name: string, replicas: number, annotations: Record<string, string> = {}) => {
  const labels = { app: name };
  const container = { name: 'only', image: 'none' };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels, annotations }, spec: { containers: [container] } },
    },
  };
};

describe('test cluster', function () {
  this.timeout(3 * MINUTE_MS);
  const options: ClusterOptions = { kwok: { nodes: 2 } };
  let cluster: Cluster;

  before(async function () {
    this.timeout(BUILD_LIMIT_MS);
    const why = whyNoCluster(options);
    if (why !== undefined) skip(this, why);
    cluster = await startCluster(options);
  });
  const others: Cluster[] = [];
  afterEach(() => Promise.all(others.splice(0).map(other => other.stop())));
  after(() => cluster?.stop());

  const ready = async (name: string) =>
    (await cluster.get(`/apis/apps/v1/namespaces/default/deployments/${name}`)).status
      .readyReplicas ?? 0;
  const becomes = (name: string, pods: number) =>
    eventually(async () => expect(await ready(name)).to.equal(pods), MINUTE_MS);
  const podsOf = async (name: string): Promise<Json[]> =>
    (await cluster.get(`/api/v1/namespaces/default/pods?labelSelector=app%3D${name}`)).items;

  it('makes all pods of a Deployment ready', async () => {
    await cluster.apply([deployment('many', MANY)]);
    await becomes('many', MANY);
    const nodes = new Set((await podsOf('many')).map(pod => pod.spec.nodeName));
    expect([...nodes].sort()).to.deep.equal(['node-0', 'node-1']);
  });

  it('removes pods when a Deployment is scaled down', async () => {
    await cluster.apply([deployment('fewer', 3)]);
    await becomes('fewer', 3);
    await cluster.kubectl('scale', 'deployment/fewer', '--replicas=1');
    await eventually(async () => expect(await podsOf('fewer')).to.have.length(1), MINUTE_MS);
  });

  it('supports setting the readiness of a pod', async () => {
    await cluster.apply([deployment('by-hand', 1, { [SIMULATED.ready]: 'by-hand' })]);
    await eventually(
      async () => expect((await podsOf('by-hand'))[0]?.status.phase).to.equal('Running'),
      MINUTE_MS,
    );
    expect(await ready('by-hand')).to.equal(0);
    const [pod] = await podsOf('by-hand');
    await cluster.setPodReady('default', pod.metadata.name, true);
    await becomes('by-hand', 1);
    await cluster.setPodReady('default', pod.metadata.name, false);
    await becomes('by-hand', 0);
  });

  it('supports delays for the start and the end of pods', async () => {
    await cluster.apply([
      deployment('slow', 1, { [SIMULATED.startDelay]: '2s', [SIMULATED.stopDelay]: '1h' }),
    ]);
    await becomes('slow', 1);
    const [{ metadata, status }] = await podsOf('slow');
    expect(Date.parse(status.startTime) - Date.parse(metadata.creationTimestamp)).to.be.at.least(
      1_000,
    );
    await cluster.kubectl('delete', 'pod', metadata.name, '--wait=false');
    await becomes('slow', 1); // a replacement pod
    const pods = await podsOf('slow');
    expect(
      pods
        .filter(pod => pod.metadata.deletionTimestamp !== undefined)
        .map(pod => pod.metadata.name),
    ).to.deep.equal([metadata.name]);
  });

  it('keeps its objects when the API server restarts', async () => {
    const before = await cluster.get('/api/v1/namespaces/default/serviceaccounts/default');
    const pid = cluster.process('kube-apiserver').pid;
    await cluster.restartApiServer();
    expect(cluster.process('kube-apiserver').pid).to.not.equal(pid);
    expect(
      (await cluster.get('/api/v1/namespaces/default/serviceaccounts/default')).metadata.uid,
    ).to.equal(before.metadata.uid);
  });

  it('records requests in the audit log, and enforces RBAC', async () => {
    await cluster.kubectl('create', 'serviceaccount', 'unprivileged');
    const kubeconfig = await cluster.userKubeconfig('default', 'unprivileged');
    const message = await cluster.kubectl('get', 'secrets', `--kubeconfig=${kubeconfig}`).then(
      () => '',
      (error: Error) => error.message,
    );
    expect(message).to.contain(
      'User "system:serviceaccount:default:unprivileged" cannot list resource "secrets"',
    );
    await eventually(async () => {
      const requests = (await cluster.auditRequests()).filter(({ user }) =>
        user.endsWith(':unprivileged'),
      );
      expect(countBy(requests, 'agent', 'verb', 'resource', 'status')).to.include({
        'kubectl list secrets 403': 1,
      });
    });
  });

  it('delays writes while etcd is frozen', async () => {
    const marked = (value: string) =>
      cluster.request('POST', '/api/v1/namespaces', { metadata: { name: value } });
    await cluster.pauseEtcd();
    let answered = false;
    const made = marked('late').finally(() => {
      answered = true;
    });
    // Served from memory.
    const { status } = await cluster.request('GET', '/api/v1/nodes?resourceVersion=0');
    expect({ status, answered }).to.deep.equal({ status: 200, answered: false });
    cluster.resumeEtcd();
    expect((await made).status).to.equal(201);
    expect((await marked('soon')).status).to.equal(201);
  });

  it('returns 410 for a compacted version', async () => {
    const plain = await startCluster({ apiServer: { args: ['--watch-cache=false'] } });
    others.push(plain);
    const version = (await plain.get('/api/v1/namespaces')).metadata.resourceVersion;
    await plain.request('POST', '/api/v1/namespaces', { metadata: { name: 'newer' } });
    await plain.compactEtcd();
    const { body } = await plain.request(
      'GET',
      `/api/v1/namespaces?watch=true&resourceVersion=${version}&timeoutSeconds=5`,
    );
    expect(body).to.have.nested.property('object.code', 410);
  });

  it('ends when the process that started it is killed', async () => {
    const source = `
      import { startCluster } from ${JSON.stringify(import.meta.resolve('./cluster.ts'))};
      const { folder, process: one } = await startCluster();
      console.log(JSON.stringify({ folder, pids: ['etcd', 'kube-apiserver'].map(name => one(name).pid) }));`;
    const parent = spawn(process.execPath, ['--input-type=module', '--eval', source], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(createInterface({ input: parent.stdout }), 'line');
    const { folder, pids } = JSON.parse(line) as { folder: string; pids: number[] };
    expect(pids.filter(lives)).to.deep.equal(pids);
    parent.kill('SIGKILL');
    await once(parent, 'close');
    await eventually(() => expect(pids.filter(lives)).to.deep.equal([]), MINUTE_MS);
    await rm(folder, { recursive: true, maxRetries: 5 });
  });

  it('leaves no process and no file behind when it is stopped', async () => {
    const other = await startCluster({ controllerManager: true });
    others.push(other);
    const processes = (['etcd', 'kube-apiserver', 'kube-controller-manager'] as const).map(
      other.process,
    );
    expect(processes.map(process => process.alive())).to.deep.equal([true, true, true]);
    await other.stop();
    expect(processes.filter(({ pid }) => lives(pid))).to.deep.equal([]);
    expect(existsSync(other.folder)).to.equal(false);
    expect(await cluster.get('/api/v1/namespaces/default')).to.have.nested.property(
      'metadata.name',
      'default',
    );
  });
});
