{{/* The RBAC rules of the controller, and the namespaces that it manages. */}}

{{/* The managed namespaces, as JSON. */}}
{{- define "pressroom.controller.namespaces" -}}
{{- prepend (default (list) .Values.controller.namespaces) .Release.Namespace | uniq | toJson -}}
{{- end }}

{{/* No access to Secrets, because worker pods reference them, and no delete: owner references remove the objects of a deleted pool. */}}
{{- define "pressroom.controller.rules" -}}
- apiGroups: [pressroom.dev]
  resources: [browserpools]
  verbs: [list, watch]
- apiGroups: [pressroom.dev]
  resources: [browserpools/status]
  verbs: [patch]
# Required to set blockOwnerDeletion where the admission plugin OwnerReferencesPermissionEnforcement is enabled.
- apiGroups: [pressroom.dev]
  resources: [browserpools/finalizers]
  verbs: [update]
- apiGroups: [apps]
  resources: [deployments]
  verbs: [get, list, watch, create, patch]
- apiGroups: [""]
  resources: [services]
  verbs: [get, list, watch, create, patch]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [get, list, watch, create, patch]
# The controller sets the deletion cost of pods, so that idle pods are removed first.
- apiGroups: [""]
  resources: [pods]
  verbs: [list, watch, patch]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create]
{{- end }}
