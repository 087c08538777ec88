// @proves mcp-discovery, chart

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { GROUP, PLURAL, VERSION } from '../../crds/browser-pool.ts';
import { browserPoolCrd } from '../../crds/crd.ts';
import { eventually } from '../support/eventually.ts';
import { skip } from '../support/skip.ts';
import { temporaryFolder } from '../support/temporary.ts';
import {
  CHART,
  findHelm,
  type Helm,
  type KubeObject,
  LEAST,
  NAMESPACE,
  one,
  RELEASE,
  withValues,
} from './chart/helm.ts';
import { runHooks, startController } from './chart/hooks.ts';
import { BUILD_LIMIT_MS } from './kube/binaries.ts';
import { type Cluster, startCluster, whyNoCluster } from './kube/cluster.ts';

const run = promisify(execFile);
const MINUTE_MS = 60_000;
const POOL = `/apis/${GROUP}/${VERSION}/namespaces/${NAMESPACE}/${PLURAL}/${RELEASE}`;
const SECRET = `/api/v1/namespaces/${NAMESPACE}/secrets/${RELEASE}-secrets`;
const CRD = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${PLURAL}.${GROUP}`;
/** The garbage collector of the controller manager deletes the objects of a deleted pool. */
const OPTIONS = { controllerManager: true };

describe('release of the chart', function () {
  this.timeout(5 * MINUTE_MS);
  let helm: Helm;
  let cluster: Cluster;
  const folder = temporaryFolder();

  const withCluster = (...args: string[]) =>
    helm([...args, '--namespace', NAMESPACE], { ...process.env, KUBECONFIG: cluster.kubeconfig });
  const install = (chart: string, values = {}, ...args: string[]) =>
    withValues({ ...LEAST, ...values }, file =>
      withCluster('install', RELEASE, chart, '--values', file, ...args),
    );

  before(async function () {
    this.timeout(BUILD_LIMIT_MS);
    const why = whyNoCluster(OPTIONS);
    if (why !== undefined) skip(this, why);
    helm = await findHelm(this);
    cluster = await startCluster(OPTIONS);
    await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }]);
  });
  after(() => cluster?.stop());

  it('installs an older version with its pool and its Secret', async () => {
    await helm([
      'package',
      CHART,
      '--version',
      '0.0.9',
      '--app-version',
      '0.0.9',
      '--destination',
      folder('.'),
    ]);
    const old = folder('pressroom-0.0.9.tgz');
    const output = await runHooks(cluster, await helm.template());
    expect(output.join('')).to.match(
      /Created Secret .* with the keys pepper, pool-secret, dashboard-secret/,
    );
    expect(await cluster.get(CRD), 'created by a Job that may create no other').to.be.an('object');
    await install(old, {}, '--no-hooks');
    expect((await cluster.get(POOL))!.spec.template.image).to.equal('pressroom-worker:0.0.9');
    expect(Object.keys((await cluster.get(SECRET))!.data)).to.have.members([
      'pepper',
      'pool-secret',
      'dashboard-secret',
    ]);
  });

  it('keeps its Secret, its pool and the CRD when it is upgraded', async () => {
    const before = {
      secret: await cluster.get(SECRET),
      pool: await cluster.get(POOL),
      crd: await cluster.get(CRD),
    };
    const output = await runHooks(cluster, await helm.template());
    expect(output.join('')).to.match(/already exists and was not changed/);
    await withValues(LEAST, file =>
      withCluster('upgrade', RELEASE, CHART, '--no-hooks', '--values', file),
    );
    expect(await cluster.get(SECRET)).to.deep.equal(before.secret);
    const pool = await cluster.get(POOL);
    expect(pool.metadata.uid).to.equal(before.pool.metadata.uid);
    expect(pool.spec.template.image).to.equal('pressroom-worker:0.1.0');
    expect((await cluster.get(CRD))!.metadata.uid).to.equal(before.crd.metadata.uid);
  });

  it('adds missing keys to the Secret of an older version once, without changing the existing keys', async () => {
    const without = (key: string) =>
      cluster.request('PATCH', SECRET, { data: { [key]: null } }, 'application/merge-patch+json');
    await without('dashboard-secret');
    const before = (await cluster.get(SECRET))!.data;
    const objects = await helm.template();
    expect((await runHooks(cluster, objects)).join('')).to.match(
      /Added the keys dashboard-secret to the existing Secret/,
    );
    const after = (await cluster.get(SECRET))!.data;
    expect(after)
      .to.deep.include(before)
      .and.to.have.keys('pepper', 'pool-secret', 'dashboard-secret');
    expect(Buffer.from(after['dashboard-secret'], 'base64').toString()).to.match(
      /^[0-9A-Za-z]{43}$/,
    );
    expect((await runHooks(cluster, objects)).join('')).to.match(/was not changed/);
    expect((await cluster.get(SECRET))!.data).to.deep.equal(after);
  });

  it('does not change a Secret without a pepper, and reports the missing key', async () => {
    const { data } = (await cluster.get(SECRET))!;
    await cluster.request(
      'PATCH',
      SECRET,
      { data: { pepper: null, 'dashboard-secret': null } },
      'application/merge-patch+json',
    );
    const error = await runHooks(cluster, await helm.template()).then(
      () => undefined,
      (failure: { stderr: string }) => failure,
    );
    expect(error?.stderr).to.match(/does not contain the keys pepper\. It was not changed/);
    expect((await cluster.get(SECRET))!.data).to.have.keys('pool-secret');
    await cluster.request('PATCH', SECRET, { data }, 'application/merge-patch+json');
  });

  it('updates an older CRD', async () => {
    const objects = await helm.template();
    const crd = await cluster.get(CRD);
    const versions = crd.spec.versions.map((version: KubeObject) => ({
      ...version,
      additionalPrinterColumns: [],
    }));
    const older = { spec: { versions }, metadata: { annotations: null } };
    await cluster.request('PATCH', CRD, older, 'application/merge-patch+json');
    await runHooks(cluster, objects);
    const { metadata, spec } = (await cluster.get(CRD))!;
    expect(spec.versions[0].additionalPrinterColumns).not.to.deep.equal([]);
    expect(metadata.annotations, 'kept by Argo CD and Helm').to.include(
      browserPoolCrd.metadata.annotations,
    );
  });

  it('grants the controller the permissions that it needs, and none beyond its namespace', async () => {
    const deployment = one(await helm.template(), 'Deployment', `${RELEASE}-controller`);
    const lines: string[] = [];
    const child = await startController(cluster, deployment, text => lines.push(text));
    try {
      const children = ['/apis/apps/v1', '/api/v1', '/apis/policy/v1'].map(
        (api, at) =>
          `${api}/namespaces/${NAMESPACE}/${['deployments', 'services', 'poddisruptionbudgets'][at]}/${RELEASE}-workers`,
      );
      await eventually(async () => {
        for (const path of children) expect(await cluster.get(path), path).to.be.an('object');
        expect((await cluster.get(POOL))!.status?.conditions, 'its status').to.be.an('array');
      }, MINUTE_MS);
      expect(lines.join('')).not.to.match(/forbidden/i);
      const { body } = await cluster.request(
        'GET',
        `/apis/events.k8s.io/v1/namespaces/${NAMESPACE}/events`,
      );
      expect(body.items.map(({ regarding }: KubeObject) => regarding.kind)).to.include(
        'BrowserPool',
      );
      await eventually(async () => {
        const as = [
          '--as',
          `system:serviceaccount:${NAMESPACE}:${RELEASE}-controller`,
          '--dry-run=server',
          '-n',
          NAMESPACE,
        ];
        const patch = ['-p', '{"spec":{"paused":true}}'];
        const denied = await cluster
          .kubectl('patch', 'deployment', `${RELEASE}-api`, ...patch, ...as)
          .catch(error => String(error));
        expect(denied).to.include('may only write Deployments that are owned by a BrowserPool');
        await cluster.kubectl('patch', 'deployment', `${RELEASE}-workers`, ...patch, ...as);
      }, MINUTE_MS);
      // The state after `kubectl delete --cascade=orphan` of the pool.
      const orphan = { metadata: { ownerReferences: null } };
      await cluster.request('PATCH', children[0]!, orphan, 'application/merge-patch+json');
      await eventually(
        async () =>
          expect((await cluster.get(children[0]!))!.metadata.ownerReferences).to.have.length(1),
        MINUTE_MS,
      );
    } finally {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    }
    const canI = (...args: string[]) =>
      cluster
        .kubectl(
          'auth',
          'can-i',
          ...args,
          '--as',
          `system:serviceaccount:${NAMESPACE}:${RELEASE}-controller`,
        )
        .catch(() => 'no');
    for (const [verb, what, where] of [
      ['get', 'secrets', NAMESPACE],
      ['create', 'pods', NAMESPACE],
      ['delete', 'browserpools.pressroom.dev', NAMESPACE],
      ['create', 'roles.rbac.authorization.k8s.io', NAMESPACE],
      ['list', 'pods', 'kube-system'],
      ['update', 'leases/another', NAMESPACE],
    ])
      expect(
        (await canI(verb!, what!, '-n', where!)).trim(),
        `${verb} ${what} in ${where}`,
      ).to.match(/^no/);
  });

  it('leaves only the CRD and the Secret behind when it is uninstalled', async () => {
    await withCluster('uninstall', RELEASE, '--no-hooks');
    expect(await cluster.get(POOL)).to.equal(undefined);
    expect(await cluster.get(CRD)).to.be.an('object');
    expect(await cluster.get(SECRET)).to.be.an('object');
    const kinds =
      'deployments.apps,services,serviceaccounts,roles,rolebindings,configmaps,poddisruptionbudgets,networkpolicies,secrets,clusterroles,clusterrolebindings';
    await eventually(async () => {
      const left = await cluster.kubectl(
        'get',
        kinds,
        '-n',
        NAMESPACE,
        '-l',
        `app.kubernetes.io/instance=${RELEASE}`,
        '-o',
        'name',
      );
      expect(left.trim()).to.equal('');
    }, MINUTE_MS);
  });

  it('installs a missing CRD without a Job', async () => {
    await cluster.kubectl('delete', 'crd', `${PLURAL}.${GROUP}`);
    await install(CHART, { crds: { upgrade: false } }, '--no-hooks');
    expect((await cluster.get(POOL))!.spec.slotsPerPod).to.equal(2);
    await withCluster('uninstall', RELEASE, '--no-hooks');
  });

  it('prints the next commands and warnings about incomplete settings in its notes', async () => {
    const notes = (values: object) => install(CHART, values, '--dry-run=server', '--no-hooks');
    const plain = await notes({});
    expect(plain).to.match(/helm test room --namespace press/);
    expect(plain).to.match(/exec deployment\/room-api -- pressroom accounts create/);
    expect(plain).to.match(
      /exec --stdin --tty deployment\/room-api -- pressroom admin create --email/,
    );
    expect(plain).not.to.match(/WARNING/);
    expect(plain).to.include('  http://room-api.press.svc/mcp\n');
    expect(await notes({ api: { config: { PRESSROOM_DASHBOARD: 'off' } } })).not.to.match(
      /Create an administrator|\/mcp/,
    );
    const reached = await notes({ api: { publicUrl: 'https://pdf.example/' } });
    expect(reached).to.include('  https://pdf.example/mcp\n');
    expect(reached).to.include('curl -sS https://pdf.example/v1/render');
    const partly = {
      ingress: {
        enabled: true,
        hosts: ['pdf.example'],
        tls: [{ hosts: ['pdf.example'] }],
        paths: ['/v1', '/docs'],
      },
      api: { trustedProxies: ['10.0.0.0/8'] },
    };
    expect(await notes(partly)).to.match(/WARNING: Only \/v1, \/docs is routed to the API/);
    const proxy = { proxy: { existingSecret: 'proxy', cidr: '10.20.30.40/32' } };
    expect(await notes({ egress: proxy })).to.match(
      /WARNING: The API does not use egress\.proxy[\s\S]*PRESSROOM_MCP_CIMD=off/,
    );
    expect(
      await notes({ egress: proxy, api: { config: { PRESSROOM_MCP_CIMD: 'off' } } }),
    ).not.to.match(/WARNING/);
    const open = { enabled: true, hosts: ['pdf.example'] };
    expect(await notes({ ingress: open })).to.match(
      /WARNING: The dashboard is served over plain HTTP/,
    );
    expect(
      await notes({ ingress: open, api: { config: { PRESSROOM_DASHBOARD: false } } }),
    ).not.to.match(/plain HTTP/);
    const ingress = { ...open, tls: [{ hosts: ['pdf.example'], secretName: 'tls' }] };
    expect(await notes({ ingress })).to.match(
      /WARNING: The Ingress is enabled, but api.trustedProxies is empty/,
    );
    expect(await notes({ ingress, api: { trustedProxies: ['10.0.0.0/8'] } })).not.to.match(
      /WARNING/,
    );
    expect(await notes({ egress: { allow: ['wiki.corp'] } })).to.match(
      /WARNING: .* does not allow the hosts in egress\.allow \(wiki\.corp\)/,
    );
    expect(await notes({ pool: { chromeSandbox: { mode: 'Off' } } })).to.match(
      /WARNING: Chrome's sandbox is off/,
    );
  });

  it('is packaged without unrelated files', async () => {
    const { stdout } = await run('tar', ['--list', '--file', folder('pressroom-0.0.9.tgz')]);
    expect(stdout.split('\n').filter(name => /\.(ts|tgz|swp)$/.test(name))).to.deep.equal([]);
    expect(stdout).to.include('pressroom/crds/browserpools.pressroom.dev.yaml');
    expect(readFileSync(join(CHART, 'Chart.yaml'), 'utf8')).to.match(/^version: 0\.1\.0$/m);
  });
});
