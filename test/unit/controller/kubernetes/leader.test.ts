import { expect } from 'chai';
import { silentLog } from '../../../../common/log.ts';
import { Leader, NotLeader } from '../../../../controller/kubernetes/leader.ts';
import type { Kubernetes } from '../../../../controller/kubernetes/resources.ts';
import { KubernetesError } from '../../../../controller/kubernetes/transport.ts';
import type { Json } from '../../../cluster/kube/api-request.ts';
import { eventually } from '../../../support/eventually.ts';

describe('leader election', () => {
  function fixture({ hasLed = false, deployment = 404 as number | string } = {}) {
    let version = 1;
    let lease:
      | { metadata: Json & { resourceVersion: string }; spec: { holderIdentity?: string } }
      | undefined;
    const state = { now: 0, asked: 0, reads: 0, changes: [] as boolean[], deployment };
    const reject = (status: number) =>
      new KubernetesError({ verb: 'get', resource: 'leases', path: '' }, status, '');
    const write = async <T>(_: unknown, object: Json) => {
      lease = { ...object, metadata: { ...object.metadata, resourceVersion: String(++version) } };
      return lease as T;
    };
    const api = {
      async get(resource: string) {
        if (resource === 'deployments') {
          if (typeof state.deployment === 'number') throw reject(state.deployment);
          return { metadata: { uid: state.deployment } };
        }
        state.reads++;
        if (!lease) throw reject(404);
        return lease;
      },
      create: write,
      update: write,
    } as unknown as Kubernetes;
    const leader = new Leader({
      api,
      namespace: 'press',
      name: 'one',
      identity: 'me',
      log: silentLog,
      onChange: leading => state.changes.push(leading),
      hasLed: async () => {
        state.asked++;
        return hasLed;
      },
      clock: () => state.now,
    });
    return {
      leader,
      state,
      write,
      holder: () => lease?.spec.holderIdentity,
      metadata: () => lease?.metadata,
      deleteLease: () => {
        lease = undefined;
      },
    };
  }

  it('restarts leadership after a freeze in which another controller led and released the Lease', async () => {
    const { leader, state, write, holder } = fixture();
    await leader.start();
    try {
      await eventually(() => expect(leader.leading()).to.equal(true));
      // All of this happens between two of its renewals.
      state.now += 60_000;
      await write(undefined, { metadata: {}, spec: { holderIdentity: '' } });
      expect(() => leader.assertLeading()).to.throw(NotLeader);
      await eventually(() => expect(holder()).to.equal('me'));
      await eventually(() => expect(leader.leading()).to.equal(true));
      expect(state.changes).to.deep.equal([true, false, true]);
    } finally {
      await leader.stop();
    }
  });

  it('recreates a Lease that another client deleted, without losing leadership', async () => {
    const { leader, state, holder, deleteLease } = fixture();
    await leader.start();
    try {
      await eventually(() => expect(holder()).to.equal('me'));
      deleteLease();
      await eventually(() => expect(holder()).to.equal('me'));
      expect(state.changes).to.deep.equal([true]);
      expect(state.asked, 'only before the first Lease').to.equal(1);
    } finally {
      await leader.stop();
    }
  });

  it('does not replace a deleted Lease while the leader before may still act', async () => {
    const { leader, state, write, holder, deleteLease } = fixture();
    const other = { metadata: {}, spec: { holderIdentity: 'other', leaseDurationSeconds: 15 } };
    await write(undefined, other);
    await leader.start();
    try {
      await eventually(() => expect(state.reads).to.be.greaterThan(0));
      deleteLease();
      state.now += 60_000;
      const { reads } = state;
      await eventually(() => expect(state.reads).to.be.greaterThan(reads + 1));
      expect(holder()).to.equal(undefined);
      state.now += 15_001;
      await eventually(() => expect(holder()).to.equal('me'));
      expect(state.asked, 'it has seen the Lease').to.equal(0);
    } finally {
      await leader.stop();
    }
  });

  it('waits for a missing Lease after a start if a controller has led before', async () => {
    const { leader, state, holder } = fixture({ hasLed: true });
    await leader.start();
    try {
      await eventually(() => expect(state.asked).to.be.greaterThan(1));
      expect(holder()).to.equal(undefined);
    } finally {
      await leader.stop();
    }
  });

  it('keeps the labels and annotations of the Lease when it acquires, renews and releases it', async () => {
    const { leader, state, write, holder, metadata } = fixture();
    const given = {
      labels: { 'app.kubernetes.io/managed-by': 'Helm' },
      annotations: { 'meta.helm.sh/release-name': 'room' },
    };
    await write(undefined, { metadata: given });
    await leader.start();
    await eventually(() => expect(leader.leading()).to.equal(true));
    expect(state.changes).to.deep.equal([true]);
    expect(metadata(), 'when it leads').to.deep.include(given);
    await leader.stop();
    expect(holder()).to.equal('');
    expect(metadata(), 'when it has ended').to.deep.include(given);
  });

  it('creates the Lease with the Deployment of the same name as its owner, also when it recreates it', async () => {
    const { leader, state, metadata, deleteLease } = fixture({ deployment: 'uid' });
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'one', uid: 'uid' };
    await leader.start();
    try {
      await eventually(() => expect(metadata()?.ownerReferences).to.deep.equal([owner]));
      // As in `helm uninstall`: the Deployment is gone, and its last pod still runs.
      state.deployment = 404;
      deleteLease();
      await eventually(() => expect(metadata()?.ownerReferences).to.deep.equal([owner]));
    } finally {
      await leader.stop();
    }
  });

  for (const [why, deployment] of [
    ['there is no Deployment of its name', 404],
    ['it must not read Deployments', 403],
  ] as const)
    it(`creates the Lease without an owner if ${why}`, async () => {
      const { leader, holder, metadata } = fixture({ deployment });
      await leader.start();
      await eventually(() => expect(holder()).to.equal('me'));
      await leader.stop();
      expect(metadata()?.ownerReferences).to.equal(undefined);
    });
});
