// The programs that tests run and that are built with Go, most of them of a cluster: each pinned to
// a version, and the Go modules that they are built from.

export interface GoProgram {
  /** What it is called when it is built. */
  name: string;
  /** The package that it is the main function of. */
  from: string;
  /**
   * The source of that package where it is ours: `from` is a folder of this name then, as `./name`.
   */
  source?: string;
}

export interface GoModule {
  path: string;
  version: string;
  programs: readonly GoProgram[];
  /**
   * Variables that a release of these programs is linked with: what they call themselves is one of
   * them.
   */
  variables: Readonly<Record<string, string>>;
  /**
   * Modules that its go.mod names by a folder beside it, which only its own repository has: here
   * they come in `version`. A module without any is built as it is.
   */
  beside?: { prefix: string; version: string };
}

const KUBERNETES = { minor: 34, patch: 4 };
const kubernetes = `${KUBERNETES.minor}.${KUBERNETES.patch}`;
const command = (module: string) => (name: string) => ({ name, from: `${module}/cmd/${name}` });

/**
 * CoreDNS with the plugins that our Corefile names (node/dns.ts): with all others, most of them for
 * clouds, it takes twice as long to build.
 */
const COREDNS = `package main

import (
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/template"
)

func main() { coremain.Run() }
`;

/**
 * In the order in which tests need them. All that one module has is built at once, since its
 * programs share most of their packages.
 */
export const MODULES = [
  {
    path: 'github.com/stripe/stripe-mock',
    version: 'v0.203.0',
    programs: [{ name: 'stripe-mock', from: 'github.com/stripe/stripe-mock' }],
    variables: {},
  },
  {
    path: 'k8s.io/kubernetes',
    version: `v1.${kubernetes}`,
    programs: [
      ...[
        'kube-apiserver',
        'kube-controller-manager',
        'kube-scheduler',
        'kubectl',
        'kubelet',
        'kube-proxy',
      ].map(command('k8s.io/kubernetes')),
      // In the version that this Kubernetes is tested with, which its go.mod names. Debian's
      // package would start a server of its own beside the tests.
      { name: 'etcd', from: 'go.etcd.io/etcd/server/v3' },
    ],
    variables: {
      'k8s.io/component-base/version.gitVersion': `v1.${kubernetes}`,
      'k8s.io/component-base/version.gitMajor': '1',
      'k8s.io/component-base/version.gitMinor': String(KUBERNETES.minor),
    },
    beside: { prefix: 'k8s.io/', version: `v0.${kubernetes}` },
  },
  {
    path: 'sigs.k8s.io/kwok',
    version: 'v0.7.0',
    programs: [command('sigs.k8s.io/kwok')('kwok')],
    variables: {},
  },
  {
    path: 'helm.sh/helm/v3',
    version: 'v3.22.0',
    programs: [command('helm.sh/helm/v3')('helm')],
    // The Kubernetes that `helm template` takes for granted where it is not told one.
    variables: Object.fromEntries(
      ['chartutil', 'lint/rules'].flatMap(part => [
        [`helm.sh/helm/v3/pkg/${part}.k8sVersionMajor`, '1'],
        [`helm.sh/helm/v3/pkg/${part}.k8sVersionMinor`, String(KUBERNETES.minor)],
      ]),
    ),
  },
  // Releases 3 and 4 install the chart in the tests; all else is done with 3.
  {
    path: 'helm.sh/helm/v4',
    version: 'v4.3.1',
    programs: [{ name: 'helm4', from: 'helm.sh/helm/v4/cmd/helm' }],
    variables: {},
  },
  {
    path: 'github.com/yannh/kubeconform',
    version: 'v0.8.0',
    programs: [command('github.com/yannh/kubeconform')('kubeconform')],
    variables: {},
  },
  {
    path: 'github.com/coredns/coredns',
    version: 'v1.15.0',
    programs: [{ name: 'coredns', from: './coredns', source: COREDNS }],
    variables: {},
  },
] as const satisfies readonly GoModule[];

export type Binary =
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-scheduler'
  | 'kubectl'
  | 'kubelet'
  | 'kube-proxy'
  | 'etcd'
  | 'kwok'
  | 'helm'
  | 'helm4'
  | 'kubeconform'
  | 'coredns'
  | 'stripe-mock';
