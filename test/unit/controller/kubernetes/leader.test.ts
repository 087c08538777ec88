import { expect } from 'chai';
import { silentLog } from '../../../../common/log.ts';
import { Leader, NotLeader } from '../../../../controller/kubernetes/leader.ts';
import type { Kubernetes } from '../../../../controller/kubernetes/resources.ts';
import { KubernetesError } from '../../../../controller/kubernetes/transport.ts';
import type { Json } from '../../../cluster/kube/api-request.ts';
import { eventually } from '../../../support/eventually.ts';

describe('leader election', () => {
  function fixture() {
    let version = 1;
    let lease:
      | { metadata: Json & { resourceVersion: string }; spec: { holderIdentity?: string } }
      | undefined;
    const state = { now: 0, changes: [] as boolean[] };
    const reject = (status: number) =>
      new KubernetesError({ verb: 'get', resource: 'leases', path: '' }, status, '');
    const write = async <T>(_: unknown, object: Json) => {
      lease = { ...object, metadata: { ...object.metadata, resourceVersion: String(++version) } };
      return lease as T;
    };
    const api = {
      async get() {
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
      clock: () => state.now,
    });
    return {
      leader,
      state,
      write,
      holder: () => lease?.spec.holderIdentity,
      metadata: () => lease?.metadata,
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
});
