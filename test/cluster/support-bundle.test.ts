// What `pressroom support-bundle` reports and keeps when it cannot read everything, with kubectl on
// a real API server.
import { execFileSync } from 'node:child_process';
import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect } from 'chai';
import { PRESSROOM_PROGRAM, runNodeProgram } from '../support/run-program.ts';
import { skip } from '../support/skip.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { BUILD_LIMIT_MS, kubeBinaries } from './kube/binaries.ts';
import { type Cluster, startCluster, whyNoCluster } from './kube/cluster.ts';
import { writeKubeconfig } from './kube/kubeconfig.ts';

const NAMESPACE = 'pdf';
const LABELS = {
  'app.kubernetes.io/name': 'pressroom',
  'app.kubernetes.io/component': 'api',
  'app.kubernetes.io/instance': 'pressroom',
};

const inNamespace = (name: string) => ({ name, namespace: NAMESPACE });

describe('pressroom support-bundle without access to everything', function () {
  this.timeout(120_000);
  const at = temporaryFolder();
  let cluster: Cluster;
  let path = '';

  before(async function () {
    this.timeout(BUILD_LIMIT_MS);
    const why = whyNoCluster();
    if (why !== undefined) skip(this, why);
    path = `${dirname((await kubeBinaries(['kubectl'])).kubectl)}:${process.env.PATH}`;
    cluster = await startCluster();
    const api = 'rbac.authorization.k8s.io';
    const role = (kind: string) => ({
      apiVersion: `${api}/v1`,
      kind,
      metadata: inNamespace('reader'),
    });
    await cluster.apply([
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
      ...['reader', 'stranger'].map(name => ({
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: inNamespace(name),
      })),
      {
        ...role('Role'),
        rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }],
      },
      {
        ...role('RoleBinding'),
        roleRef: { apiGroup: api, kind: 'Role', name: 'reader' },
        subjects: [{ kind: 'ServiceAccount', ...inNamespace('reader') }],
      },
    ]);
  });
  after(() => cluster?.stop());

  async function bundle(name: string, kubeconfig: string, namespace = NAMESPACE) {
    const env = { PATH: path, KUBECONFIG: kubeconfig, HOME: cluster.folder };
    const args = ['support-bundle', '--namespace', namespace, '-o', at(name)];
    const run = await runNodeProgram(PRESSROOM_PROGRAM, args, env);
    return { ...run, written: (await readdir(at())).includes(name) };
  }

  it('reports a namespace without Pressroom', async () => {
    const { code, errors, written } = await bundle('empty.tar.gz', cluster.kubeconfig, 'default');
    expect(errors).to.include(
      'No pod of Pressroom is in the namespace default. Check --namespace.\n',
    );
    expect({ code, written }).to.deep.equal({ code: 1, written: false });
  });

  it('collects what a user with few rights can read, and names each right that is missing', async () => {
    await cluster.apply([
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { ...inNamespace('pressroom-api-1'), labels: LABELS },
        spec: {
          nodeName: 'none',
          serviceAccountName: 'reader',
          containers: [{ name: 'api', image: 'none' }],
        },
      },
    ]);
    const kubeconfig = await cluster.userKubeconfig(NAMESPACE, 'reader');
    const { code, out, errors } = await bundle('few.tar.gz', kubeconfig);
    expect({ code, out }, errors).to.deep.equal({ code: 0, out: `${at('few.tar.gz')}\n` });
    for (const [file, verb, resource] of [
      ['deployments.json', 'list', 'deployments'],
      ['events.json', 'list', 'events'],
      ['logs/pressroom-api-1.jsonl', 'get', 'pods/log'],
    ])
      expect(errors).to.include(
        `Left out ${file}: your user has no right to \`${verb}\` \`${resource}\`. Ask for this right and run the command again.\n`,
      );
    expect((await stat(at('few.tar.gz'))).mode & 0o777).to.equal(0o600);
    execFileSync('tar', ['-xzf', at('few.tar.gz'), '-C', at()]);
    const read = async (name: string) =>
      JSON.parse(await readFile(at(`pressroom-support/${name}`), 'utf8'));
    expect((await read('pods.json'))[0].name).to.equal('pressroom-api-1');
    expect(await read('missing.json')).to.include.members(['deployments.json', 'events.json']);
  });

  it('reports that a user without rights can read nothing', async () => {
    const kubeconfig = await cluster.userKubeconfig(NAMESPACE, 'stranger');
    const { code, errors, written } = await bundle('none.tar.gz', kubeconfig);
    expect(errors).to.include(
      `Your user can read nothing in the namespace ${NAMESPACE}. Ask for the rights in docs/command-line.md.\n`,
    );
    expect({ code, written }).to.deep.equal({ code: 1, written: false });
  });

  it('reports credentials that the cluster rejects', async () => {
    const kubeconfig = await writeKubeconfig(at(), { ...cluster.admin, token: 'wrong' });
    const { code, errors, written } = await bundle('rejected.tar.gz', kubeconfig);
    expect(errors).to.match(
      /^kubectl cannot reach the cluster: .*Check the context with `kubectl config current-context`\.\n$/,
    );
    expect({ code, written }).to.deep.equal({ code: 1, written: false });
  });

  it('reports a cluster that cannot be reached', async () => {
    await cluster.stopApiServer();
    const { code, errors, written } = await bundle('gone.tar.gz', cluster.kubeconfig);
    expect(errors).to.match(
      /^kubectl cannot reach the cluster: .*refused.*Check the context with `kubectl config current-context`\.\n$/,
    );
    expect({ code, written }).to.deep.equal({ code: 1, written: false });
  });
});
