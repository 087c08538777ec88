import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { GROUP, PLURAL } from '../../crds/browser-pool.ts';
import { eventually } from '../support/eventually.ts';
import { readmeCommand } from '../support/readme-commands.ts';
import { skip } from '../support/skip.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { foreignKinds } from './chart/foreign-kinds.ts';
import {
  CHART,
  findHelm,
  type Helm,
  type HelmMajor,
  LEAST,
  NAMESPACE,
  one,
  RELEASE,
  withValues,
} from './chart/helm.ts';
import { runHooks, startController } from './chart/hooks.ts';
import { BUILD_LIMIT_MS } from './kube/binaries.ts';
import { type Cluster, startCluster, whyNoCluster } from './kube/cluster.ts';

const MINUTE_MS = 60_000;
const CRD = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${PLURAL}.${GROUP}`;
const LEASE = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/${RELEASE}-controller`;
const OPTIONS = { controllerManager: true };
const SECOND = 'second';

/** The template of earlier versions of the chart. */
const LEASE_TEMPLATE = `apiVersion: coordination.k8s.io/v1
kind: Lease
metadata:
  {{- include "pressroom.metadata" (list $ "controller" (include "pressroom.controller.name" .) (dict)) | nindent 2 }}
`;

/** The field managers of the CRD's spec. */
const managersOf = (crd: {
  metadata: { managedFields: { manager: string; operation: string; subresource?: string }[] };
}) =>
  crd.metadata.managedFields
    .filter(({ subresource }) => subresource === undefined)
    .map(({ manager, operation }) => `${manager} ${operation}`);

for (const major of [3, 4] as const satisfies HelmMajor[])
  describe(`chart with Helm ${major}`, function () {
    this.timeout(5 * MINUTE_MS);
    let cluster: Cluster;
    let helm: Helm;
    let helm3: Helm;
    const folder = temporaryFolder();

    before(async function () {
      this.timeout(BUILD_LIMIT_MS);
      const why = whyNoCluster(OPTIONS);
      if (why !== undefined) skip(this, why);
      helm = await findHelm(this, major);
      helm3 = await findHelm(this);
      cluster = await startCluster(OPTIONS);
      await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }]);
    });
    after(() => cluster?.stop());

    const run = (program: Helm, ...args: string[]) =>
      program([...args, '--namespace', NAMESPACE], {
        ...process.env,
        KUBECONFIG: cluster.kubeconfig,
      });
    const install = (program: Helm, release = RELEASE, chart = CHART) =>
      withValues(LEAST, file =>
        run(program, 'install', release, chart, '--no-hooks', '--values', file),
      );
    const upgrade = () =>
      withValues(LEAST, file =>
        run(helm, 'upgrade', RELEASE, CHART, '--no-hooks', '--values', file),
      );
    const untilLed = () =>
      eventually(
        async () =>
          expect((await cluster.get(LEASE))?.spec?.holderIdentity).to.be.a('string').and.not.empty,
        MINUTE_MS,
      );
    const untilNoLease = () =>
      eventually(async () => expect(await cluster.get(LEASE)).to.equal(undefined), MINUTE_MS);
    /** Runs controllers of the release. `use` reads their logs. */
    async function withControllers(
      count: number,
      use: (logs: () => string) => Promise<unknown>,
    ): Promise<void> {
      const deployment = one(await helm.template(), 'Deployment', `${RELEASE}-controller`);
      const lines: string[] = [];
      const controllers: ChildProcess[] = [];
      try {
        for (let at = 0; at < count; at++)
          controllers.push(await startController(cluster, deployment, line => lines.push(line)));
        await use(() => lines.join(''));
      } finally {
        for (const controller of controllers) {
          controller.kill('SIGTERM');
          if (controller.exitCode === null) await once(controller, 'exit');
        }
      }
    }
    const runLeader = () => withControllers(1, untilLed);

    it('installs two releases', async () => {
      await install(helm);
      await runHooks(cluster, await helm.template());
      expect(managersOf((await cluster.get(CRD))!)).to.deep.equal(['helm Apply']);
      await install(helm, SECOND);
      await run(helm, 'uninstall', SECOND, '--no-hooks');
    });

    it('uninstalls a release, also while its controllers run, without leaving their Lease behind', async () => {
      await withControllers(1, async () => {
        await untilLed();
        await run(helm, 'uninstall', RELEASE, '--no-hooks');
        await untilNoLease();
      });
      await install(helm);
      await runLeader();
      expect((await cluster.get(LEASE))!.spec.holderIdentity).to.equal('');
      await run(helm, 'uninstall', RELEASE, '--no-hooks');
      await untilNoLease();
    });

    it('installs a release beside a Lease without an owner', async () => {
      await cluster.apply([
        {
          apiVersion: 'coordination.k8s.io/v1',
          kind: 'Lease',
          metadata: { name: `${RELEASE}-controller`, namespace: NAMESPACE },
        },
      ]);
      await install(helm);
      await runLeader();
      await run(helm, 'uninstall', RELEASE, '--no-hooks');
      await cluster.request('DELETE', LEASE);
    });

    it('upgrades a release with a templated Lease without a change of the leader', async () => {
      const old = folder('with-lease');
      await cp(CHART, old, { recursive: true });
      await writeFile(join(old, 'templates/controller/lease.yaml'), LEASE_TEMPLATE);
      await install(helm, RELEASE, old);
      await withControllers(2, async logs => {
        await untilLed();
        const before = await cluster.get(LEASE);
        await upgrade();
        await eventually(async () => {
          const lease = await cluster.get(LEASE);
          expect(lease?.metadata.uid).to.be.a('string').and.not.equal(before!.metadata.uid);
          expect(lease!.spec.holderIdentity).to.equal(before!.spec.holderIdentity);
        }, MINUTE_MS);
        expect(logs().match(/became the leader/g)).to.have.length(1);
        expect(logs()).not.to.match(/lost leadership/);
      });
      // Back to the templated Lease, as docs/upgrading.md shows. Helm 4 also accepts the Lease.
      const rollback = (...args: string[]) => run(helm, 'rollback', RELEASE, ...args, '--no-hooks');
      if (major === 3) {
        const error = await rollback('1').catch((error: Error) => error);
        expect(String(error)).to.match(/cannot patch "room-controller" with kind Lease/);
      }
      await cluster.request('DELETE', LEASE);
      await rollback('1');
      expect((await cluster.get(LEASE))!.metadata.labels).to.include({
        'app.kubernetes.io/managed-by': 'Helm',
      });
      await run(helm, 'uninstall', RELEASE, '--no-hooks');
    });

    it('upgrades a release of Helm 3, and then installs another one', async () => {
      await cluster.kubectl('delete', 'crd', `${PLURAL}.${GROUP}`);
      await install(helm3);
      await runLeader();
      await runHooks(cluster, await helm.template());
      await upgrade();
      expect(managersOf((await cluster.get(CRD))!)).to.deep.equal(['helm Apply']);
      await install(helm, SECOND);
      for (const release of [SECOND, RELEASE]) await run(helm, 'uninstall', release, '--no-hooks');
    });

    it('installs with the command of the README', async () => {
      await cluster.apply(foreignKinds);
      const env = { ...process.env, KUBECONFIG: cluster.kubeconfig };
      const [, ...args] = readmeCommand('helm install').split(' ');
      const chart = args.indexOf('charts/pressroom');
      await helm([...args.with(chart, CHART), '--no-hooks'], env);
      await helm(['uninstall', 'pressroom', '--namespace', 'pressroom', '--no-hooks'], env);
    });
  });
