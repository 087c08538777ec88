// @proves client-metadata-documents

import { BlockList, isIPv4 } from 'node:net';
import { expect } from 'chai';
import { isPublicAddress } from '../../common/addresses.ts';
import {
  findHelm,
  type Helm,
  type KubeObject,
  NAMESPACE,
  one,
  RELEASE,
  type Values,
} from './chart/helm.ts';
import { MATRIX } from './chart/matrix.ts';
import { BUILD_LIMIT_MS } from './kube/binaries.ts';

const MINUTE_MS = 60_000;
const WORKERS = `${RELEASE}-workers`;
const kindOf = (address: string) => (isIPv4(address) ? 'ipv4' : 'ipv6');

/** Whether a CIDR contains an address, as a network plugin decides it. */
function blockOf(cidr: string): (address: string) => boolean {
  const [base, bits] = cidr.split('/') as [string, string];
  const list = new BlockList();
  list.addSubnet(base, Number(bits), kindOf(base));
  return address => kindOf(address) === kindOf(base) && list.check(address, kindOf(address));
}

/** Whether the IP blocks of a policy allow a TCP connection to an address. */
function reachOf(policy: KubeObject): (address: string, port: number) => boolean {
  const rules = policy.spec.egress.map(({ to = [], ports }: KubeObject) => ({
    opens: (port: number) =>
      ports.some((each: KubeObject) => each.port === port && each.protocol === 'TCP'),
    blocks: to
      .filter(({ ipBlock }: KubeObject) => ipBlock)
      .map(({ ipBlock }: KubeObject) => ({
        inside: blockOf(ipBlock.cidr),
        except: (ipBlock.except ?? []).map(blockOf) as ((address: string) => boolean)[],
      })),
  }));
  return (address, port) =>
    rules.some(
      ({ opens, blocks }: KubeObject) =>
        opens(port) &&
        blocks.some(
          ({ inside, except }: KubeObject) =>
            inside(address) && !except.some((each: (address: string) => boolean) => each(address)),
        ),
    );
}

/** One address of every /16 network of IPv4. */
const EVERYWHERE = Array.from({ length: 2 ** 16 }, (_, at) => `${at >> 8}.${at & 255}.3.1`);

/** Special-purpose addresses in smaller networks and of IPv6, and some public ones. */
const SPECIAL = [
  ...[
    '168.63.129.16',
    '192.0.0.9',
    '192.0.2.1',
    '192.31.196.1',
    '192.52.193.1',
    '192.88.99.1',
    '192.175.48.1',
    '198.51.100.1',
    '203.0.113.1',
    '255.255.255.255',
  ],
  ...[
    '2001::1',
    '2001:1ff::1',
    '2001:db8::1',
    '2002::1',
    '2620:4f:8000::1',
    '3fff::1',
    '3fff:fff:ffff::1',
    '::1',
    'fe80::1',
    'fc00::1',
    '64:ff9b::1',
    'ff02::1',
  ],
  ...[
    '2606:4700::1111',
    '2a00:1450::1',
    '2001:200::1',
    '2003::1',
    '3fff:1000::1',
    '168.63.129.17',
    '192.0.3.1',
    '203.0.114.1',
  ],
];

describe("chart's NetworkPolicies", function () {
  this.timeout(2 * MINUTE_MS);
  let helm: Helm;
  let plain: KubeObject[];
  const render = (set: string) => helm.template(MATRIX[set]);
  const policy = (objects: KubeObject[], name: string) => one(objects, 'NetworkPolicy', name);

  before(async function () {
    this.timeout(BUILD_LIMIT_MS);
    helm = await findHelm(this);
    plain = await helm.template();
  });

  it('allow workers only public addresses, as the egress guard does', () => {
    const reaches = reachOf(policy(plain, WORKERS));
    const different = [...EVERYWHERE, ...SPECIAL].filter(
      address => reaches(address, 443) !== isPublicAddress(address),
    );
    expect(different).to.deep.equal([]);
    expect([reaches('1.1.1.1', 443), reaches('10.1.1.1', 443)]).to.deep.equal([true, false]);
  });

  it('allow workers only the ports for pages', () => {
    const reaches = reachOf(policy(plain, WORKERS));
    expect([80, 443, 8080, 8443].map(port => reaches('1.1.1.1', port))).to.deep.equal([
      true,
      true,
      true,
      true,
    ]);
    expect([22, 25, 9222, 27017].map(port => reaches('1.1.1.1', port))).to.deep.equal([
      false,
      false,
      false,
      false,
    ]);
  });

  it('allow the networks in egress.allow and deny those in egress.deny', async () => {
    const reaches = reachOf(policy(await render('allowed and denied networks'), WORKERS));
    expect(reaches('10.1.2.3', 443)).to.equal(true);
    expect(reaches('10.2.3.4', 9000)).to.equal(true);
    expect(reaches('10.2.3.4', 443)).to.equal(false);
    expect(reaches('10.2.3.5', 9000)).to.equal(false);
    expect(reaches('fd00::9', 443)).to.equal(true);
    expect(reaches('fd01::5', 8443)).to.equal(true);
    expect(reaches('fd01::6', 8443)).to.equal(false);
    expect(
      ['198.51.100.9', '192.0.2.7', '2001:4860::8888'].map(address => reaches(address, 443)),
    ).to.deep.equal([false, false, false]);
    expect(reaches('1.1.1.1', 443)).to.equal(true);
  });

  it('allow workers the HTTP proxy instead of public addresses', async () => {
    const reaches = reachOf(policy(await render('an HTTP proxy and a private CA'), WORKERS));
    expect(reaches('10.20.30.40', 3128)).to.equal(true);
    expect(reaches('1.1.1.1', 443)).to.equal(false);
  });

  it('allow only the API to reach workers, and only Prometheus to scrape them', () => {
    const { podSelector, policyTypes, ingress } = policy(plain, WORKERS).spec;
    expect(podSelector.matchLabels).to.deep.equal({
      'app.kubernetes.io/component': 'worker',
      'pressroom.dev/pool': RELEASE,
    });
    expect(policyTypes).to.deep.equal(['Ingress', 'Egress']);
    expect(ingress).to.deep.equal([
      {
        from: [
          {
            podSelector: {
              matchLabels: one(plain, 'Deployment', `${RELEASE}-api`).spec.selector.matchLabels,
            },
          },
        ],
        ports: [{ protocol: 'TCP', port: 9222 }],
      },
      {
        from: [
          { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } },
        ],
        ports: [{ protocol: 'TCP', port: 9090 }],
      },
    ]);
  });

  it('allow only Prometheus to reach the controller', () => {
    expect(
      policy(plain, `${RELEASE}-controller`).spec.ingress.map(
        ({ ports }: KubeObject) => ports[0].port,
      ),
    ).to.deep.equal([9090]);
  });

  it('allow the test pod to call an API with restricted sources', async () => {
    const objects = await render('restricted NetworkPolicies');
    const [open] = policy(objects, `${RELEASE}-api`).spec.ingress;
    const test = one(objects, 'Pod').metadata.labels;
    expect(
      open.from.some(
        ({ podSelector }: KubeObject) =>
          podSelector &&
          Object.entries(podSelector.matchLabels).every(([key, value]) => test[key] === value),
      ),
    ).to.equal(true);
  });

  it('allow the Jobs to reach kube-apiserver and the test pod to reach the API', async () => {
    const job = one(plain, 'Job', `${RELEASE}-make-secrets`).spec.template.metadata.labels;
    const setup = policy(plain, `${RELEASE}-setup`);
    expect(job).to.include(setup.spec.podSelector.matchLabels);
    expect(setup.metadata.annotations).to.deep.include({
      'helm.sh/hook': 'pre-install,pre-upgrade',
      'helm.sh/hook-weight': '-3',
    });
    expect(
      setup.spec.egress.flatMap(({ ports }: KubeObject) =>
        ports.map(({ port }: KubeObject) => port),
      ),
    ).to.deep.equal([443, 6443]);
    const test = policy(plain, `${RELEASE}-test`).spec;
    expect(one(plain, 'Pod').metadata.labels).to.include(test.podSelector.matchLabels);
    const rule = test.egress.find(({ ports }: KubeObject) => ports[0].port === 8080);
    expect(rule.to[0].podSelector.matchLabels).to.deep.equal(
      one(plain, 'Deployment', `${RELEASE}-api`).spec.selector.matchLabels,
    );
    const portsOfTest = (objects: KubeObject[]) =>
      policy(objects, `${RELEASE}-test`).spec.egress.flatMap(({ ports }: KubeObject) =>
        ports.map(({ port }: KubeObject) => port),
      );
    expect(portsOfTest(plain)).to.deep.equal([53, 53, 8080, 27017]);
    expect(portsOfTest(await render('existing Secrets'))).to.deep.equal([53, 53, 8080]);
    const narrow = await render('restricted NetworkPolicies');
    expect(policy(narrow, `${RELEASE}-setup`).spec.egress[0].to).to.deep.equal([
      { ipBlock: { cidr: '10.0.0.1/32' } },
    ]);
  });

  it('allow the controller to reach Prometheus at the monitoring peers by default', async () => {
    const to = (objects: KubeObject[], port: number) =>
      policy(objects, `${RELEASE}-controller`).spec.egress.find(
        ({ ports }: KubeObject) => ports[0].port === port,
      )?.to;
    expect(to(plain, 9090)).to.deep.equal([
      { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } },
    ]);
    expect(to(await render('restricted NetworkPolicies'), 9091)).to.deep.equal([
      { podSelector: {} },
    ]);
  });

  it('allow the API to reach the OpenID Connect provider and Stripe if they are configured', async () => {
    const name = `${RELEASE}-api`;
    const set = 'SSO and Stripe';
    const withoutMcp = ({ api, ...values }: Values & { api?: { config?: object } }) => ({
      ...values,
      api: { ...api, config: { ...api?.config, PRESSROOM_MCP: 'off' } },
    });
    const wide = policy(await helm.template(withoutMcp(MATRIX[set]!)), name).spec.egress.filter(
      ({ ports }: KubeObject) => ports[0].port === 443,
    );
    expect(wide.map(({ to }: KubeObject) => to?.length)).to.deep.equal([undefined, 2]);
    const narrow = await helm.template({
      ...withoutMcp(MATRIX[set]!),
      networkPolicy: {
        companySignIn: { to: [{ ipBlock: { cidr: '10.5.0.1/32' } }], ports: [8443] },
        stripe: { to: [{ ipBlock: { cidr: '10.5.0.2/32' } }], ports: [3128] },
      },
    });
    const reaches = reachOf(policy(narrow, name));
    expect([reaches('10.5.0.1', 8443), reaches('10.5.0.2', 3128)]).to.deep.equal([true, true]);
    expect([
      reaches('1.1.1.1', 443),
      reaches('10.5.0.1', 443),
      reaches('10.5.0.2', 8443),
    ]).to.deep.equal([false, false, false]);
  });

  it('allow the API to fetch client metadata documents from public addresses if enabled', async () => {
    const reach = async (values: Values) =>
      reachOf(policy(await helm.template(values), `${RELEASE}-api`));
    const open = await reach({ egress: { deny: ['198.51.101.0/24'] } });
    expect([open('1.1.1.1', 443), open('2606:4700::1111', 443)]).to.deep.equal([true, true]);
    expect([
      open('1.1.1.1', 80),
      open('10.1.2.3', 443),
      open('169.254.169.254', 443),
      open('198.51.101.7', 443),
    ]).to.deep.equal(Array(4).fill(false));
    for (const off of ['PRESSROOM_MCP_CIMD', 'PRESSROOM_MCP', 'PRESSROOM_DASHBOARD'])
      for (const value of ['off', false])
        expect((await reach({ api: { config: { [off]: value } } }))('1.1.1.1', 443), off).to.equal(
          false,
        );
    const narrow = await reach({
      networkPolicy: {
        appDocuments: { to: [{ ipBlock: { cidr: '10.5.0.3/32' } }], ports: [8443] },
      },
    });
    expect([narrow('10.5.0.3', 8443), narrow('1.1.1.1', 443)]).to.deep.equal([true, false]);
  });

  it('allow only the API, the test pod and its own member to reach the bundled MongoDB', async () => {
    const objects = await render('a bundled MongoDB');
    const { ingress, podSelector } = policy(objects, `${RELEASE}-mongodb`).spec;
    expect(podSelector.matchLabels).to.deep.equal(
      one(objects, 'StatefulSet').spec.selector.matchLabels,
    );
    expect(
      ingress[0].from.map(
        ({ podSelector: peer }: KubeObject) => peer.matchLabels['app.kubernetes.io/component'],
      ),
    ).to.deep.equal(['api', 'test', 'mongodb']);
    expect(NAMESPACE).to.equal(one(objects, 'StatefulSet').metadata.namespace);
  });
});
