// Minimal CRDs of the Prometheus Operator and of OpenShift, so that the API server accepts its resources.

const kind = (name: string, plural: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.monitoring.coreos.com` },
  spec: {
    group: 'monitoring.coreos.com',
    scope: 'Namespaced',
    names: { kind: name, listKind: `${name}List`, plural, singular: name.toLowerCase() },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        },
      },
    ],
  },
});

const securityContextConstraints = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'securitycontextconstraints.security.openshift.io' },
  spec: {
    group: 'security.openshift.io',
    scope: 'Cluster',
    names: {
      kind: 'SecurityContextConstraints',
      plural: 'securitycontextconstraints',
      singular: 'securitycontextconstraints',
    },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    ],
  },
};

export const foreignKinds = [
  kind('PodMonitor', 'podmonitors'),
  kind('PrometheusRule', 'prometheusrules'),
  securityContextConstraints,
];
