import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { CHART, findHelm, type Helm, type KubeObject, one } from './chart/helm.ts';
import { MATRIX } from './chart/matrix.ts';
import { BUILD_LIMIT_MS } from './kube/binaries.ts';

const MINUTE_MS = 60_000;
const ROUTE = { enabled: true, parentRefs: [{ name: 'public' }] };

describe('routes of the chart', function () {
  this.timeout(2 * MINUTE_MS);
  let helm: Helm;
  let rendered: KubeObject[];

  before(async function () {
    this.timeout(BUILD_LIMIT_MS);
    helm = await findHelm(this);
    rendered = await helm.template(MATRIX['all optional objects']);
  });

  const publicUrl = async (values: Record<string, unknown>): Promise<string> =>
    one(
      await helm.template(values),
      'Deployment',
      'room-api',
    ).spec.template.spec.containers[0].env.find(
      ({ name }: KubeObject) => name === 'PRESSROOM_PUBLIC_URL',
    ).value;

  it('send all paths of the hosts of the Ingress to the API', () => {
    const { metadata, spec } = one(rendered, 'Ingress');
    expect(metadata.annotations).to.include({
      'nginx.ingress.kubernetes.io/proxy-body-size': '11m',
    });
    const backend = { service: { name: 'room-api', port: { name: 'http' } } };
    const paths = [{ path: '/', pathType: 'Prefix', backend }];
    expect(spec.rules).to.deep.equal([
      { host: 'pdf.example', http: { paths } },
      { host: 'www.pdf.example', http: { paths } },
    ]);
  });

  it('have no annotations of an Ingress controller by default', async () => {
    const objects = await helm.template({
      ingress: { enabled: true, hosts: ['pdf.example'] },
      httpRoute: ROUTE,
    });
    for (const kind of ['Ingress', 'HTTPRoute'])
      expect(one(objects, kind).metadata, kind).not.to.have.property('annotations');
  });

  it('send the chosen paths of the hostnames of the HTTPRoute to the API', () => {
    const { metadata, spec } = one(rendered, 'HTTPRoute');
    expect(metadata.labels).to.include({ exposed: 'yes', team: 'paper' });
    expect(metadata.annotations).to.include({ note: 'read me', owner: 'paper' });
    expect(spec).to.deep.equal({
      parentRefs: [{ name: 'public', namespace: 'gateways', sectionName: 'https' }],
      hostnames: ['*.pdf.example'],
      rules: [
        {
          matches: ['/v1', '/docs', '/openapi.json'].map(value => ({
            path: { type: 'PathPrefix', value },
          })),
          backendRefs: [{ name: 'room-api', port: 80 }],
          timeouts: { request: '300s', backendRequest: '300s' },
        },
      ],
    });
  });

  it('allow 300 s for a response of an HTTPRoute, or have no time limit with null', async () => {
    const rule = async (httpRoute: object) =>
      one(await helm.template({ httpRoute: { ...ROUTE, ...httpRoute } }), 'HTTPRoute').spec
        .rules[0];
    expect((await rule({})).timeouts).to.deep.equal({ request: '300s' });
    expect(await rule({ timeouts: null })).not.to.have.property('timeouts');
  });

  it('are the public URL of the API unless it is set', async () => {
    const ingress = { enabled: true, hosts: ['ingress.example'] };
    const httpRoute = { ...ROUTE, hostnames: ['route.example'] };
    expect(await publicUrl({ ingress, httpRoute })).to.equal('http://ingress.example');
    expect(await publicUrl({ httpRoute })).to.equal('https://route.example');
    expect(await publicUrl({ httpRoute: { ...ROUTE, hostnames: ['*.example'] } })).to.equal(
      'http://room-api.press.svc',
    );
    expect(await publicUrl({ httpRoute: ROUTE })).to.equal('http://room-api.press.svc');
    expect(await publicUrl({ httpRoute, api: { publicUrl: 'https://set.example' } })).to.equal(
      'https://set.example',
    );
  });

  it('have annotations and values in the README that the chart accepts', async () => {
    const readme = readFileSync(join(CHART, 'README.md'), 'utf8');
    const section = readme.slice(readme.indexOf('## Traffic'), readme.indexOf('## Networking'));
    const blocks = [...section.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text]) =>
      parse(text!),
    );
    expect(blocks).to.have.length(3);
    for (const values of blocks) {
      const objects = await helm.template(values);
      const wanted = { ingress: 'Ingress', httpRoute: 'HTTPRoute' };
      for (const [value, kind] of Object.entries(wanted))
        if (values[value]) expect(one(objects, kind).metadata.name).to.equal('room-api');
    }
  });
});
