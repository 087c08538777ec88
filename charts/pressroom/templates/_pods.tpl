{{/* Parts that all pods of the chart share. */}}

{{/*
The fields required by the Pod Security Standard `restricted` are merged last, so that values cannot override them. OpenShift rejects users and groups
outside of the range of the namespace.
*/}}
{{- define "pressroom.podSecurityContext" -}}
{{- $given := deepCopy (default (dict) .Values.podSecurityContext) -}}
{{- if .Values.openshift.enabled }}{{ $given = omit $given "runAsUser" "runAsGroup" "fsGroup" }}{{ end -}}
{{- toYaml (mergeOverwrite $given (dict "runAsNonRoot" true "seccompProfile" (dict "type" "RuntimeDefault"))) -}}
{{- end }}

{{- define "pressroom.containerSecurityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/*
Probes on the operations port, of the values of a component. They check only this process: that it is alive and not draining. Fields of the values
replace those of the defaults; another handler replaces httpGet.
*/}}
{{- define "pressroom.probes" -}}
{{- $alive := dict "path" "/livez" "port" "operations" -}}
{{- $probes := dict
  "startupProbe" (dict "httpGet" $alive "periodSeconds" 2 "failureThreshold" 60)
  "livenessProbe" (dict "httpGet" $alive "periodSeconds" 10 "timeoutSeconds" 5 "failureThreshold" 6)
  "readinessProbe" (dict "httpGet" (dict "path" "/readyz" "port" "operations") "periodSeconds" 2 "timeoutSeconds" 2 "failureThreshold" 3)
-}}
{{- range $name, $probe := $probes }}
{{- $own := default (dict) (index $ $name) }}
{{- range $handler := list "httpGet" "exec" "tcpSocket" "grpc" }}{{ if hasKey $own $handler }}{{ $probe = omit $probe "httpGet" }}{{ end }}{{ end }}
{{ toYaml (dict $name (mergeOverwrite (dict) $probe $own)) }}
{{- end }}
{{- end }}

{{/* The metadata of a pod. Takes (list $ component values). */}}
{{- define "pressroom.podMetadata" -}}
{{- $ := index . 0 -}}
{{- $values := index . 2 -}}
labels:
  {{- include "pressroom.podLabels" (list $ (index . 1) $values.podLabels) | nindent 2 }}
annotations:
  kubectl.kubernetes.io/default-container: {{ index . 1 }}
  {{- if and (eq (index . 1) "api") $.Values.mongodb.uri }}
  # A changed connection string restarts the pods.
  pressroom.dev/mongodb-uri: {{ $.Values.mongodb.uri | sha256sum | trunc 16 }}
  {{- end }}
  {{- with mergeOverwrite (dict) (fromYaml (include "pressroom.scrapeAnnotations" $)) (default (dict) $values.podAnnotations) }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{- define "pressroom.scrapeAnnotations" -}}
{{- if .Values.scrapeAnnotations -}}
prometheus.io/scrape: "true"
prometheus.io/port: "9090"
prometheus.io/path: /metrics
{{- else -}}
{}
{{- end -}}
{{- end }}

{{/* Scheduling and name resolution of a pod. Takes (list $ component values). */}}
{{- define "pressroom.placement" -}}
{{- $ := index . 0 -}}
{{- $values := index . 2 -}}
{{- with $.Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with $values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- $selector := dict "labelSelector" (dict "matchLabels" (fromYaml (include "pressroom.selectorLabels" (list $ (index . 1))))) }}
{{- $affinity := default (dict) $values.affinity }}
{{- if $values.topologySpreadConstraints }}
{{- $term := dict "weight" 100 "podAffinityTerm" (merge (dict "topologyKey" "kubernetes.io/hostname") $selector) }}
{{- $apart := dict "podAntiAffinity" (dict "preferredDuringSchedulingIgnoredDuringExecution" (list $term)) }}
{{- $affinity = ternary $affinity (merge (deepCopy $affinity) $apart) (hasKey $affinity "podAntiAffinity") }}
{{- end }}
{{- with $affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if $values.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- range $values.topologySpreadConstraints }}
  - {{- toYaml (ternary . (merge (deepCopy .) $selector) (hasKey . "labelSelector")) | nindent 4 }}
  {{- end }}
{{- end }}
{{- range $field := list "dnsConfig" "hostAliases" }}
{{- with index $values $field }}
{{ toYaml (dict $field .) }}
{{- end }}
{{- end }}
{{- end }}

{{/* The variables of `config`. YAML parses on and off as booleans; large numbers must not be printed as 1e+06. */}}
{{- define "pressroom.config" -}}
{{- range $name, $value := . }}
- name: {{ $name }}
  value: {{ if kindIs "bool" $value }}{{ ternary "on" "off" $value | quote }}{{ else if kindIs "float64" $value }}{{ printf "%.0f" $value | quote }}{{ else }}{{ $value | toString | quote }}{{ end }}
{{- end }}
{{- end }}

{{/* The drain timeout: the grace period minus 5 s in which the API still accepts requests and 5 s to exit. */}}
{{- define "pressroom.drainTimeout" -}}
{{ max 1 (sub (int .terminationGracePeriodSeconds) 10) }}s
{{- end }}

{{/* An environment variable from a Secret. Takes (list name secret key). */}}
{{- define "pressroom.secretVariable" -}}
- name: {{ index . 0 }}
  valueFrom:
    secretKeyRef:
      name: {{ index . 1 | quote }}
      key: {{ index . 2 | quote }}
{{- end }}

{{/* The egress rules of pages, for the API and the workers. */}}
{{- define "pressroom.egressVariables" -}}
{{- if not .Values.egress.ports }}{{ fail "egress.ports: set at least one port, such as 443" }}{{ end -}}
- name: PRESSROOM_EGRESS_PORTS
  value: "{{ range $at, $port := .Values.egress.ports }}{{ if $at }},{{ end }}{{ int $port }}{{ end }}"
{{- with .Values.egress.allow }}
- name: PRESSROOM_EGRESS_ALLOW
  value: {{ join "," . | quote }}
{{- end }}
{{- with .Values.egress.deny }}
- name: PRESSROOM_EGRESS_DENY
  value: {{ join "," . | quote }}
{{- end }}
{{- end }}

{{/* The path of the CA bundle in the pods. Empty if `caBundle` is not set. */}}
{{- define "pressroom.ca.file" -}}
{{- if or .Values.caBundle.configMap .Values.caBundle.secret }}/etc/pressroom/ca/{{ .Values.caBundle.key }}{{ end -}}
{{- end }}

{{/* CA certificates that Node.js trusts in addition to its built-in list. */}}
{{- define "pressroom.ca.variable" -}}
{{- with include "pressroom.ca.file" . -}}
- name: NODE_EXTRA_CA_CERTS
  value: {{ . | quote }}
{{- end -}}
{{- end }}

{{- define "pressroom.ca.mount" -}}
{{- if or .Values.caBundle.configMap .Values.caBundle.secret -}}
- name: ca
  mountPath: /etc/pressroom/ca
  readOnly: true
{{- end -}}
{{- end }}

{{- define "pressroom.ca.volume" -}}
{{- if and .Values.caBundle.configMap .Values.caBundle.secret -}}
{{- fail "caBundle: set either configMap or secret, not both" -}}
{{- else if .Values.caBundle.configMap -}}
- name: ca
  configMap:
    name: {{ .Values.caBundle.configMap | quote }}
{{- else if .Values.caBundle.secret -}}
- name: ca
  secret:
    secretName: {{ .Values.caBundle.secret | quote }}
{{- end -}}
{{- end }}
