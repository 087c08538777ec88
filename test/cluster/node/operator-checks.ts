// What an operator runs on an installation: the support bundle and the checks of doctor, and the
// installation with secrets as files.
import { expect } from 'chai';
import type { DoctorCheck } from '../../../cli/doctor/doctor-check.ts';
import type { Cluster } from '../kube/cluster.ts';
import { type Installation, RELEASE } from './installation.ts';
import { PLANTED, plantEvent, supportBundle } from './planted-secrets.ts';
import type { TAGS } from './product-images.ts';

/** The values of the generated Secret, as they are and in base64. */
async function generatedSecrets(release: Installation): Promise<string[]> {
  const { data } = await release.secret();
  return Object.values(data as Record<string, string>).flatMap(encoded => [
    encoded,
    Buffer.from(encoded, 'base64').toString(),
  ]);
}

/** Plants secrets, makes a bundle in `folder`, and looks for its parts and for the secrets. */
export async function expectSafeBundle(
  cluster: Cluster,
  release: Installation,
  { base, keys, folder }: { base: string; keys: readonly string[]; folder: string },
): Promise<void> {
  const { namespace } = release;
  await fetch(`${base}/${PLANTED.path}`);
  await plantEvent(cluster, namespace);
  const readable = ['get', 'deployments,pods,browserpools,events', '--output=json'];
  const objects = await cluster.kubectl(...readable, `--namespace=${namespace}`);
  const planted = `${objects}${await release.logs('api')}`;
  for (const secret of Object.values(PLANTED)) expect(planted).to.include(secret);
  const secrets = [...Object.values(PLANTED), ...(await generatedSecrets(release)), ...keys];

  const { errors, files } = await supportBundle(cluster, namespace, folder);
  expect(errors).to.equal('Look through the archive before you send it.\n');
  for (const [name, text] of files)
    for (const secret of secrets) expect(text, `${secret} in ${name}`).to.not.include(secret);

  const paths = [...files.keys()].sort();
  for (const component of ['api', 'controller', 'workers'])
    for (const part of ['logs', 'metrics']) {
      // A controller that is not the leader logs nothing.
      const names = paths.filter(path => path.startsWith(`${part}/${RELEASE}-${component}-`));
      const texts = names.map(name => files.get(name)).join('');
      expect(texts, `${part} of ${component} among ${paths}`).to.match(/\S/);
    }
  expect(files.get('versions.json')).to.match(/"kubernetes": "v1\./);
  expect(files.get('deployments.json')).to.include('"PRESSROOM_QUEUE_TIMEOUT": "240s"');
  expect(files.get('pods.json')).to.include('"phase": "Running"');
  expect(files.get('browserpools.json')).to.match(/"readyReplicas": 1\b/);
  expect(files.get('events.json')).to.include('"PlantedByTheTest"');
  const doctor = paths.filter(path => path.startsWith('doctor/'));
  expect(doctor).to.have.length(1);
  expect(files.get(doctor[0]!)).to.include('"level": "ok"');
  expect(files.get('missing.json')).to.equal('[]\n');
}

/** Of doctor in a pod of the API, of this small cluster: one MongoDB and no TLS. */
const WARNINGS = ['Public URL', 'Replica set'];

/** Runs doctor in a pod of the API: each line is ok but those that fit the cluster. */
export async function expectDoctorFindings(
  release: Installation,
  prometheus: string,
): Promise<void> {
  const output = await release.inApi('doctor', '--json', '--prometheus', prometheus);
  const { checks } = JSON.parse(output) as { checks: DoctorCheck[] };
  const of = (level: string) =>
    checks.filter(check => check.level === level).map(({ subject }) => subject);
  expect(of('error'), output).to.deep.equal([]);
  expect(of('warning').sort(), output).to.deep.equal(WARNINGS);
  expect(of('ok'), output).to.include.members([
    'API',
    'Write concern',
    'Workers',
    'Sandbox',
    'Prometheus, API',
    'Prometheus, workers',
    'Release of workers',
    'Release of controller',
  ]);
}

/** Upgrades to files, and reads the environment of a process of the API and of a worker. */
export async function useSecretFiles(
  cluster: Cluster,
  release: Installation,
  tag: (typeof TAGS)[keyof typeof TAGS],
): Promise<void> {
  await release.upgrade(tag, { secrets: { mountAsFiles: true } });
  await release.untilImages(tag);
  const generated = await generatedSecrets(release);
  for (const name of ['api', 'workers']) {
    const read = ['sh', '-c', 'tr "\\0" "\\n" </proc/1/environ'];
    const pod = ['exec', `deployment/${RELEASE}-${name}`, `--namespace=${release.namespace}`];
    const variables = await cluster.kubectl(...pod, '--', ...read);
    expect(variables).to.include('PRESSROOM_POOL_SECRET_FILE=/etc/pressroom/');
    for (const secret of generated) expect(variables).to.not.include(secret);
  }
}
