// @proves crd

import { expect } from 'chai';
import { GROUP, PLURAL, specSchema, VERSION } from '../../crds/browser-pool.ts';
import { browserPoolCrd } from '../../crds/crd.ts';
import { eventually } from '../support/eventually.ts';
import { skip } from '../support/skip.ts';
import {
  AGAINST_RULES,
  type BadField,
  MISSHAPEN,
  OUT_OF_BOUNDS,
  SHORTEST,
  specWith,
} from './bad-pools.ts';
import { type Json, PATCH } from './kube/api-request.ts';
import { BUILD_LIMIT_MS } from './kube/binaries.ts';
import { type Cluster, startCluster, whyNoCluster } from './kube/cluster.ts';

const MINUTE_MS = 60_000;
const POOLS = `/apis/${GROUP}/${VERSION}/namespaces/default/${PLURAL}`;
const API_VERSION = `${GROUP}/${VERSION}`;

const pool = (name: string, spec: unknown = SHORTEST) => ({
  apiVersion: API_VERSION,
  kind: 'BrowserPool',
  metadata: { name, namespace: 'default' },
  spec,
});
const shown = (value: unknown) => {
  if (Array.isArray(value) && value.length > 2) return `a list of ${value.length}`;
  if (typeof value === 'string' && value.length > 40) return `a text of ${value.length} characters`;
  return JSON.stringify(value) ?? 'nothing';
};

describe('the definition of BrowserPool', function () {
  this.timeout(2 * MINUTE_MS);
  let cluster: Cluster;

  before(async function () {
    this.timeout(BUILD_LIMIT_MS);
    const why = whyNoCluster();
    if (why !== undefined) skip(this, why);
    cluster = await startCluster();
    await cluster.apply([browserPoolCrd]);
  });
  after(() => cluster?.stop());

  const definition = () =>
    cluster.get(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${PLURAL}.${GROUP}`);
  /** As it would be written, and not kept. */
  const tryPool = (spec: unknown, name = 'tried') =>
    cluster.request('POST', `${POOLS}?dryRun=All&fieldValidation=Strict`, pool(name, spec));
  /** Written, and as the API server then has it. */
  async function made(name: string, spec: unknown = SHORTEST): Promise<Json> {
    const { status, body } = await cluster.request(
      'POST',
      `${POOLS}?fieldValidation=Strict`,
      pool(name, spec),
    );
    expect(status, JSON.stringify(body)).to.equal(201);
    return body;
  }
  const read = (name: string): Promise<Json> => cluster.get(`${POOLS}/${name}`);

  it('is accepted as it is', async () => {
    const { status } = await definition();
    const conditions = Object.fromEntries(
      status.conditions.map((each: Json) => [each.type, each.status]),
    );
    expect(conditions).to.deep.equal({ NamesAccepted: 'True', Established: 'True' });
  });

  it('changes nothing when it is applied again', async () => {
    const before = await definition();
    await cluster.apply([browserPoolCrd]);
    expect((await definition()).metadata.resourceVersion).to.equal(before.metadata.resourceVersion);
  });

  describe('refuses, as zod does,', () => {
    interface Complaint {
      field: string;
      message: string;
    }
    async function apiServerSays(spec: unknown): Promise<Complaint[]> {
      const { status, body } = await tryPool(spec);
      expect(status, JSON.stringify(body)).to.equal(422);
      return body.details.causes;
    }
    function zodSays(spec: unknown): Complaint[] {
      const { error } = specSchema.safeParse(spec);
      expect(error, 'zod accepts it').to.not.equal(undefined);
      const step = (name: PropertyKey) =>
        typeof name === 'number' ? `[${name}]` : `.${String(name)}`;
      return error!.issues.map(({ path, message }) => ({
        field: ['spec', ...path.map(step)].join(''),
        message,
      }));
    }
    const fields = (complaints: Complaint[]) => complaints.map(({ field }) => field);

    for (const { path, values } of [...OUT_OF_BOUNDS, ...MISSHAPEN])
      for (const value of values)
        it(`${shown(value)} as ${path}`, async () => {
          const spec = specWith(path, value);
          expect(fields(zodSays(spec))).to.include(`spec.${path}`);
          expect(fields(await apiServerSays(spec))).to.include(`spec.${path}`);
        });

    for (const { path, values, message } of AGAINST_RULES)
      for (const value of values)
        it(`${shown(value)} as ${path}, and says why`, async () => {
          const spec = specWith(path, value);
          const why = (complaints: Complaint[]) =>
            complaints.filter(({ field }) => field === `spec.${path}`).map(each => each.message);
          expect(why(zodSays(spec))).to.include(message);
          expect((await apiServerSays(spec)).map(each => each.message).join()).to.contain(message);
        });
  });

  it('has no bound and no rule that the above does not try', () => {
    const schema = browserPoolCrd.spec.versions[0]!.schema.openAPIV3Schema.properties.spec;
    const bounded = boundsOf(schema as Json, '');
    const tried = (fields: readonly BadField[]) => new Set(fields.map(({ path }) => path));
    expect(bounded.bounds.filter(path => !tried(OUT_OF_BOUNDS).has(path))).to.deep.equal([]);
    expect(
      bounded.messages.filter(message => !AGAINST_RULES.some(rule => rule.message === message)),
    ).to.deep.equal([]);
  });

  describe('fills in', () => {
    const specs: Record<string, unknown> = {
      'all that the shortest spec leaves out': SHORTEST,
      'what is left out of parts that are there': {
        ...SHORTEST,
        scaling: { maxReplicas: 3, scaleUp: {}, scaleDown: { delaySeconds: 0 } },
        template: { ...SHORTEST.template, chromeSandbox: {} },
      },
      'nothing where all is said': {
        ...SHORTEST,
        replicas: 0,
        paused: true,
        maxUnavailable: 2,
        template: {
          image: 'worker',
          env: [{ name: 'A', value: 'b' }],
          labels: { team: 'print' },
          resources: { limits: { memory: '2Gi' } },
        },
      },
    };
    for (const [index, [what, spec]] of Object.entries(specs).entries())
      it(`${what}, as zod does`, async () => {
        expect((await made(`filled-${index}`, spec)).spec).to.deep.equal(specSchema.parse(spec));
      });
  });

  describe('refuses', () => {
    for (const path of [
      'slots',
      'scaling.max',
      'template.chromeSandbox.profile',
      'poolSecret.namespace',
    ])
      it(`a field that it does not know: ${path}`, async () => {
        const { status, body } = await tryPool(specWith(path, 1));
        expect({ status, message: body.message }).to.deep.include({ status: 400 });
        expect(body.message).to.contain(`unknown field "spec.${path}"`);
      });

    for (const name of ['x'.repeat(46), '1st', 'first.pool'])
      it(`the name ${name}, of which no Service and no label can be made`, async () => {
        const { status, body } = await tryPool(SHORTEST, name);
        expect(status).to.equal(422);
        expect(body.details.causes.map((cause: Json) => cause.field)).to.include('metadata.name');
      });
  });

  it('takes the longest name, of which all other names can be made', async () => {
    expect((await tryPool(SHORTEST, 'x'.repeat(45))).status).to.equal(201);
  });

  it('keeps what it does not know of the parts that belong to a pod', async () => {
    const template = {
      ...SHORTEST.template,
      affinity: { nodeAffinity: { any: [1] } },
      env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'b' } } }],
    };
    const { spec } = await made('parts', { ...SHORTEST, template });
    expect(spec.template).to.deep.include({ affinity: template.affinity, env: template.env });
  });

  describe('is read', () => {
    it('by kubectl explain, which has a sentence for every field', async () => {
      // It is published a moment after the definition is accepted.
      const schema = await eventually(async () => {
        const { components } = await cluster.get(`/openapi/v3/apis/${API_VERSION}`);
        return components.schemas['dev.pressroom.v1alpha1.BrowserPool'];
      }, MINUTE_MS);
      const parts = ['spec', 'status'].flatMap(part => fieldsOf(schema.properties[part], part));
      expect(parts.length).to.be.greaterThan(60);
      const silent = parts.filter(({ description }) => !/^[A-Z`].*\.$/s.test(description ?? ''));
      expect(silent.map(({ path }) => path)).to.deep.equal([]);
      const explained = await cluster.kubectl('explain', 'browserpool.spec.scaling');
      expect(explained.replaceAll(/\s+/g, ' '))
        .to.contain('Never more pods than this.')
        .and.to.contain('how many pods the load needs');
      expect(await cluster.kubectl('explain', 'bpool.spec', '--recursive')).to.match(
        /scaleDown\s+<Object>\s+delaySeconds\s+<integer>/,
      );
    });

    it('by kubectl get, in columns that tell how it goes', async () => {
      await made('seen', { ...SHORTEST, template: { image: 'registry/worker:1' } });
      const conditions = [
        {
          type: 'MetricsAvailable',
          status: 'True',
          reason: 'Fresh',
          message: 'x',
          lastTransitionTime: '2026-11-22T07:00:00Z',
        },
      ];
      const status = {
        desiredReplicas: 4,
        readyReplicas: 3,
        busySlots: 5,
        queuedRenders: 6,
        lastScaleReason: 'Load',
        conditions,
      };
      const { status: code, body } = await cluster.request(
        'PATCH',
        `${POOLS}/seen/status`,
        { status },
        PATCH.merge,
      );
      expect(code, JSON.stringify(body)).to.equal(200);
      const table = async (...more: string[]) =>
        (await cluster.kubectl('get', 'bpool', 'seen', ...more))
          .trim()
          .split('\n')
          .map(line => line.trim().split(/\s{2,}/));
      const [names, values] = await table();
      expect(names).to.deep.equal(['NAME', 'WANTED', 'READY', 'BUSY', 'QUEUED', 'METRICS', 'AGE']);
      expect(values!.slice(0, -1)).to.deep.equal(['seen', '4', '3', '5', '6', 'True']);
      const [wideNames, wideValues] = await table('-o', 'wide');
      expect(
        Object.fromEntries(wideNames!.map((name, index) => [name, wideValues![index]])),
      ).to.include({
        REASON: 'Load',
        IMAGE: 'registry/worker:1',
      });
    });

    it('by kubectl get of all that belongs to Pressroom', async () => {
      await made('listed');
      expect(await cluster.kubectl('get', 'pressroom', '-o', 'name')).to.contain(
        `browserpool.${GROUP}/listed`,
      );
    });
  });

  it('is scaled to a fixed size by kubectl scale', async () => {
    await made('scaled');
    await cluster.kubectl('scale', 'bpool/scaled', '--replicas=3');
    expect((await read('scaled')).spec.replicas).to.equal(3);
  });

  it('tells by its scale how many pods there are, and which', async () => {
    await made('counted', { ...SHORTEST, replicas: 2 });
    const status = { replicas: 1, selector: 'pressroom.dev/pool=counted' };
    await cluster.request('PATCH', `${POOLS}/counted/status`, { status }, PATCH.merge);
    const scale = await cluster.get(`${POOLS}/counted/scale`);
    expect({ spec: scale.spec, status: scale.status }).to.deep.equal({
      spec: { replicas: 2 },
      status,
    });
  });

  it('has a status apart from its spec', async () => {
    const before = await made('apart');
    const both = { spec: { slotsPerPod: 7 }, status: { desiredReplicas: 7 } };
    await cluster.request('PATCH', `${POOLS}/apart/status`, both, PATCH.merge);
    const told = await read('apart');
    expect(told).to.deep.include({ spec: before.spec, status: both.status });
    expect(told.metadata.generation).to.equal(1);
    await cluster.request(
      'PATCH',
      `${POOLS}/apart`,
      { ...both, status: { desiredReplicas: 8 } },
      PATCH.merge,
    );
    const asked = await read('apart');
    expect(asked).to.deep.include({
      spec: { ...before.spec, slotsPerPod: 7 },
      status: both.status,
    });
    expect(asked.metadata.generation).to.equal(2);
  });
});

interface Field {
  path: string;
  description?: string;
}

/** All fields below a schema, in lists and maps too. */
function fieldsOf(schema: Json, path: string): Field[] {
  const below = Object.entries<Json>(schema.properties ?? {}).flatMap(([name, field]) =>
    fieldsOf(field, `${path}.${name}`),
  );
  const items = fieldsOfItems(schema, path);
  return [{ path, description: schema.description }, ...below, ...items];
}

/** An entry of a list needs no sentence of its own, its fields do. */
const fieldsOfItems = ({ items }: Json, path: string): Field[] =>
  Object.entries<Json>(items?.properties ?? {}).flatMap(([name, field]) =>
    fieldsOf(field, `${path}[0].${name}`),
  );

const BOUNDS = ['minimum', 'maximum', 'minLength', 'maxLength', 'pattern', 'enum', 'maxItems'];

/** The paths of all that has a bound, and what all rules say. */
function boundsOf(schema: Json, path: string): { bounds: string[]; messages: string[] } {
  const parts = [
    ...Object.entries<Json>(schema.properties ?? {}).map(([name, field]) =>
      boundsOf(field, path ? `${path}.${name}` : name),
    ),
    ...(schema.items ? [boundsOf(schema.items, `${path}[0]`)] : []),
  ];
  const own = (schema['x-kubernetes-validations'] ?? []).map((rule: Json) => rule.message);
  return {
    bounds: [
      ...(BOUNDS.some(bound => bound in schema) ? [path] : []),
      ...parts.flatMap(part => part.bounds),
    ],
    messages: [...own, ...parts.flatMap(part => part.messages)],
  };
}
