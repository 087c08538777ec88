// A MongoDB replica set with one member in a pod, for tests. Its data is not persistent.
import { MongoClient } from 'mongodb';
import type { Cluster } from '../kube/cluster.ts';
import { MONGODB_TAG } from './test-images.ts';
import { untilSuccess } from './until-success.ts';

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
    // The member must resolve its own name before it is ready.
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
          // Guarantees CPU while ten Chromes start on the same cores.
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

/** Returns its URI for pods, once it accepts writes. */
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
    await untilSuccess(async () => {
      const admin = client.db('admin');
      const config = { _id: 'tests', members: [{ _id: 0, host: HOST }] };
      const result = await admin.command({ replSetInitiate: config }).then(
        () => 'begun',
        (error: Error) => error.message, // already initiated at a second attempt
      );
      const { isWritablePrimary } = await admin.command({ hello: 1 });
      if (!isWritablePrimary)
        throw new Error(`the MongoDB of the cluster did not become primary: ${result}`);
    }, START_MS);
  } finally {
    await client.close();
  }
  return `mongodb://${HOST}/pressroom?replicaSet=tests`;
}
