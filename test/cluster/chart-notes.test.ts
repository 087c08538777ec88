import { expect } from 'chai';
import {
  CHART,
  findHelm,
  type Helm,
  LEAST,
  RELEASE,
  type Values,
  withValues,
} from './chart/helm.ts';
import { BUILD_LIMIT_MS } from './kube/binaries.ts';

const MINUTE_MS = 60_000;
/** Values with which nothing is missing. */
const COMPLETE: Values = {
  ...LEAST,
  prometheus: { url: 'http://prometheus.monitoring:9090' },
  podMonitor: { enabled: true },
  ingress: { enabled: true, hosts: ['pdf.example'], tls: [{ hosts: ['pdf.example'] }] },
  api: { trustedProxies: ['10.0.0.0/8'] },
};
const BUNDLED = { existingSecret: '', bundled: { enabled: true } };
const NO_PROMETHEUS = /^No Prometheus: the pool keeps its size\. Set prometheus\.url/;
const NO_STORAGE_CLASS = /^No StorageClass for the bundled MongoDB: its pod stays Pending/;
const NO_DATABASE = /^No MongoDB of your own: the bundled one/;
const TRIAL = /^Trial renders are on: POST \/v1\/trial\/render renders for any caller/;

/** Changes of the complete values, and the lines about what is missing. */
const MISSING: [string, Values, ...RegExp[]][] = [
  ['nothing', {}],
  ['the URL of Prometheus', { prometheus: { url: '' } }, NO_PROMETHEUS],
  ['a Prometheus that scrapes the pods', { podMonitor: { enabled: false } }, NO_PROMETHEUS],
  ['a public URL', { ingress: { enabled: false } }, /^No public URL: no dashboard over https/],
  [
    'a public URL of an installation without a dashboard',
    { ingress: { enabled: false }, api: { config: { PRESSROOM_DASHBOARD: 'off' } } },
    /^No public URL: links work only inside the cluster\. Set/,
  ],
  ['a StorageClass of the bundled MongoDB', { mongodb: BUNDLED }, NO_DATABASE, NO_STORAGE_CLASS],
  [
    'a volume of the bundled MongoDB',
    { mongodb: { ...BUNDLED, bundled: { enabled: true, storage: { enabled: false } } } },
    NO_DATABASE,
    /^No volume for the bundled MongoDB: its data are lost/,
  ],
  [
    'a MongoDB of your own',
    { mongodb: { ...BUNDLED, bundled: { enabled: true, storage: { storageClass: 'fast' } } } },
    NO_DATABASE,
  ],
  ['an API key for trial renders', { api: { trial: { enabled: true } } }, TRIAL],
  [
    'an API key for trial renders that a variable turns on',
    { api: { config: { PRESSROOM_TRIAL: 'on' } } },
    TRIAL,
  ],
];

describe('notes of the chart', function () {
  this.timeout(2 * MINUTE_MS);
  let helm: Helm;

  before(async function () {
    this.timeout(BUILD_LIMIT_MS);
    // Helm 3 asks the API server even for a dry run of the client.
    helm = await findHelm(this, 4);
  });

  const notes = async (values: Values): Promise<string> => {
    const args = ['install', RELEASE, CHART, '--dry-run=client', '--values'];
    const output = await withValues(values, file => helm([...args, file]));
    return output.slice(output.indexOf('\nNOTES:\n'));
  };
  const missing = async (values: Values) =>
    (await notes(values)).split('\nBefore production:\n')[1]?.match(/(?<=^ {2}- ).*$/gm) ?? [];

  for (const [what, values, ...patterns] of MISSING)
    it(`name in one line each what is missing: ${what}`, async () => {
      const lines = await missing({ ...COMPLETE, ...values });
      expect(lines).to.have.length(patterns.length);
      for (const [at, pattern] of patterns.entries()) expect(lines[at]).to.match(pattern);
    });

  it('name Prometheus and the public URL with the fewest values', async () => {
    const lines = await missing(LEAST);
    expect(lines.map(line => line.split(':')[0])).to.deep.equal(['No Prometheus', 'No public URL']);
    // Each way to publish the API that the chart has.
    expect(lines[1])
      .to.match(/api\.publicUrl, or ingress\.enabled=true with ingress\.hosts/)
      .and.include('httpRoute.enabled=true with httpRoute.hostnames');
  });

  it('treat the hostname of an HTTPRoute as the public URL', async () => {
    const httpRoute = {
      enabled: true,
      parentRefs: [{ name: 'public' }],
      hostnames: ['pdf.example'],
    };
    const values = { ...COMPLETE, ingress: { enabled: false }, httpRoute };
    expect(await missing(values)).to.deep.equal([]);
    expect(await notes(values)).to.include('curl -sS https://pdf.example/v1/render');
    expect(await notes({ ...values, api: {} })).to.match(
      /WARNING: The HTTPRoute is enabled, but api\.trustedProxies is empty/,
    );
  });

  it('say that static documents share a page, if they do', async () => {
    const changed =
      /^CHANGED: Documents that run no code[\s\S]*set api\.rendererReuse\.enabled=false\.$/m;
    expect(await notes(COMPLETE)).to.match(changed);
    for (const api of [
      { rendererReuse: { enabled: false } },
      { config: { PRESSROOM_RENDERER_REUSE: 'off' } },
    ])
      expect(await notes({ ...COMPLETE, api })).to.not.match(changed);
  });

  it('do not ask for Prometheus in a release without a controller', async () => {
    const values = { controller: { enabled: false }, prometheus: { url: '' } };
    expect(await missing({ ...COMPLETE, ...values })).to.deep.equal([]);
  });
});
