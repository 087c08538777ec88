// The pinned versions of the programs that the tests build with Go, and their modules.

export interface GoProgram {
  /** The file name of the built program. */
  name: string;
  /** The main package. */
  from: string;
  /**
   * The source of the package if it is part of this repository. `from` is then a folder such as
   * `./name`.
   */
  source?: string;
}

export interface GoModule {
  path: string;
  version: string;
  programs: readonly GoProgram[];
  /** Linker variables of a release, such as its version. */
  variables: Readonly<Record<string, string>>;
  /**
   * Modules that its go.mod replaces by a local folder of its repository. They are used in
   * `version` instead.
   */
  beside?: { prefix: string; version: string };
}

const KUBERNETES = { minor: 34, patch: 4 };
const kubernetes = `${KUBERNETES.minor}.${KUBERNETES.patch}`;
const command = (module: string) => (name: string) => ({ name, from: `${module}/cmd/${name}` });

/** CoreDNS with only the plugins of the Corefile in node/dns.ts, which halves the build time. */
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
 * In the order in which tests need them; build-ahead.ts builds them before the tests. All programs
 * of a module are built together, because they share most packages.
 */
export const MODULES = [
  {
    path: 'github.com/stripe/stripe-mock',
    version: 'v0.203.0',
    programs: [{ name: 'stripe-mock', from: 'github.com/stripe/stripe-mock' }],
    variables: {},
  },
  {
    path: 'github.com/oapi-codegen/oapi-codegen/v2',
    version: 'v2.8.2',
    programs: [command('github.com/oapi-codegen/oapi-codegen/v2')('oapi-codegen')],
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
      // The version in the go.mod of this Kubernetes. The Debian package would start a server.
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
    // The default Kubernetes version of `helm template`.
    variables: Object.fromEntries(
      ['chartutil', 'lint/rules'].flatMap(part => [
        [`helm.sh/helm/v3/pkg/${part}.k8sVersionMajor`, '1'],
        [`helm.sh/helm/v3/pkg/${part}.k8sVersionMinor`, String(KUBERNETES.minor)],
      ]),
    ),
  },
  // Both major versions install the chart in the tests; everything else uses version 3.
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
    path: 'github.com/zegl/kube-score',
    version: 'v1.20.0',
    programs: [command('github.com/zegl/kube-score')('kube-score')],
    variables: {},
  },
  {
    path: 'github.com/coredns/coredns',
    version: 'v1.15.0',
    programs: [{ name: 'coredns', from: './coredns', source: COREDNS }],
    variables: {},
  },
] as const satisfies readonly GoModule[];

/** The registry with its storage in files, without the drivers for object stores. */
const REGISTRY = `package main

import (
	"github.com/distribution/distribution/v3/registry"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/filesystem"
)

func main() { _ = registry.RootCmd.Execute() }
`;

/** cosign without the clients of key management services. */
const COSIGN = `package main

import (
	"os"

	"github.com/sigstore/cosign/v3/cmd/cosign/cli"
)

func main() {
	if cli.New().Execute() != nil {
		os.Exit(1)
	}
}
`;

/** Built by the release suite only, because a cold build of cosign takes many minutes. */
export const RELEASE_MODULES = [
  {
    path: 'github.com/distribution/distribution/v3',
    version: 'v3.1.2',
    programs: [{ name: 'registry', from: './registry', source: REGISTRY }],
    variables: {},
  },
  {
    path: 'oras.land/oras',
    version: 'v1.3.6',
    programs: [command('oras.land/oras')('oras')],
    variables: {},
  },
  {
    path: 'github.com/sigstore/cosign/v3',
    version: 'v3.1.3',
    programs: [{ name: 'cosign', from: './cosign', source: COSIGN }],
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
  | 'kube-score'
  | 'coredns'
  | 'registry'
  | 'oras'
  | 'cosign'
  | 'stripe-mock'
  | 'oapi-codegen';
