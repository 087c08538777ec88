// A MongoDB in a cluster: a replica set of one member in a pod of its own, for tests. Nothing of it
// outlives its pod.
import { MongoClient } from 'mongodb';
import type { Cluster } from '../kube/cluster.ts';
import { patiently } from './patiently.ts';
import { MONGODB_TAG } from './test-images.ts';

const START_MS = 180_000;
const NAMESPACE = 'database';
const HOST = `mongodb.${NAMESPACE}.svc.cluster.local:27017`;
const labels = { app: 'mongodb' };

const objects = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'mongodb', namespace: NAMESPACE },
    // The member must find itself before anybody calls it ready.
    spec: {
      clusterIP: 'None',
      publishNotReadyAddresses: true,
      selector: labels,
      ports: [{ port: 27017 }],
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'mongodb', namespace: NAMESPACE, labels },
    spec: {
      containers: [
        {
          name: 'mongodb',
          image: `mongo:${MONGODB_TAG}`,
          imagePullPolicy: 'Never',
          args: [
            '--replSet',
            'tests',
            '--dbpath',
            '/data',
            '--bind_ip_all',
            '--wiredTigerCacheSizeGB',
            '0.25',
          ],
          // It must answer while ten Chromes start on the same few cores.
          resources: { requests: { cpu: '500m' } },
          volumeMounts: [{ name: 'data', mountPath: '/data' }],
          readinessProbe: { tcpSocket: { port: 27017 }, periodSeconds: 1 },
        },
      ],
      securityContext: { fsGroup: 10_001 },
      volumes: [{ name: 'data', emptyDir: {} }],
    },
  },
];

/** Gives its URI as pods use it, once it can be written to. */
export async function startDatabase(cluster: Cluster): Promise<string> {
  await cluster.apply(objects);
  await cluster.kubectl(
    'wait',
    '--for=condition=Ready',
    `--namespace=${NAMESPACE}`,
    'pod/mongodb',
    '--timeout=110s',
  );
  const { status } = await cluster.get(`/api/v1/namespaces/${NAMESPACE}/pods/mongodb`);
  const client = new MongoClient(`mongodb://${status.podIP}:27017/?directConnection=true`, {
    serverSelectionTimeoutMS: 5_000,
  });
  try {
    await patiently(async () => {
      const admin = client.db('admin');
      const config = { _id: 'tests', members: [{ _id: 0, host: HOST }] };
      const answer = await admin.command({ replSetInitiate: config }).then(
        () => 'begun',
        (error: Error) => error.message, // that it is there already, the second time
      );
      const { isWritablePrimary } = await admin.command({ hello: 1 });
      if (!isWritablePrimary)
        throw new Error(`the MongoDB of the cluster does not become primary: ${answer}`);
    }, START_MS);
  } finally {
    await client.close();
  }
  return `mongodb://${HOST}/pressroom?replicaSet=tests`;
}
