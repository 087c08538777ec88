{{/* The `spec` of the BrowserPool. Without the controller, the chart makes the Deployment of it. */}}
{{- define "pressroom.pool.spec" -}}
{{- $pool := .Values.pool -}}
{{- $secrets := list $ (include "pressroom.worker.secretVariables" .) -}}
slotsPerPod: {{ int $pool.slotsPerPod }}
{{- if not (kindIs "invalid" $pool.replicas) }}
replicas: {{ int $pool.replicas }}
{{- end }}
paused: {{ $pool.paused }}
poolSecret:
  name: {{ include "pressroom.poolSecret.secret" . | quote }}
  key: {{ .Values.secrets.poolSecret.key | quote }}
  {{- if .Values.secrets.mountAsFiles }}
  mountAsFile: true
  {{- end }}
{{- with $pool.scaling }}
scaling:
  {{- toYaml . | nindent 2 }}
{{- end }}
maxUnavailable: {{ $pool.maxUnavailable }}
template:
  image: {{ include "pressroom.image" (list $ .Values.image.worker) }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  {{- with .Values.image.pullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  resources:
    {{- include "pressroom.pool.resources" . | nindent 4 }}
  env:
    {{- include "pressroom.egressVariables" . | nindent 4 }}
    {{- if $pool.chromePerAccount }}
    - name: PRESSROOM_CHROME_PER_ACCOUNT
      value: "on"
    {{- end }}
    {{- with .Values.egress.dnsServers }}
    - name: PRESSROOM_DNS_SERVERS
      value: {{ join "," . | quote }}
    {{- end }}
    {{- if index $secrets 1 }}
    {{- include "pressroom.variables" $secrets | nindent 4 }}
    {{- end }}
    {{- if include "pressroom.ca.file" . }}
    - name: PRESSROOM_EGRESS_CA
      value: {{ include "pressroom.ca.file" . | quote }}
    {{- end }}
    {{- include "pressroom.config" (mergeOverwrite (dict "PRESSROOM_LOG_LEVEL" .Values.logLevel) (default (dict) $pool.config)) | nindent 4 }}
    {{- with $pool.extraEnv }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with $pool.extraEnvFrom }}
  envFrom:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with mergeOverwrite (dict) (default (dict) .Values.commonLabels) (default (dict) $pool.podLabels) }}
  labels:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with mergeOverwrite (dict) (fromYaml (include "pressroom.scrapeAnnotations" .)) (default (dict) $pool.podAnnotations) }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $pool.extraContainers }}
  containers:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- range $field := list "initContainers" "dnsConfig" "hostAliases" "lifecycle" "startupProbe" "livenessProbe" "readinessProbe" }}
  {{- with index $pool $field }}
  {{- toYaml (dict $field .) | nindent 2 }}
  {{- end }}
  {{- end }}
  {{- range $field := list "nodeSelector" "affinity" "tolerations" "topologySpreadConstraints" "priorityClassName" "runtimeClassName" }}
  {{- with index $pool $field }}
  {{- toYaml (dict $field .) | nindent 2 }}
  {{- end }}
  {{- end }}
  serviceAccountName: {{ include "pressroom.workerServiceAccountName" . | quote }}
  {{- /* Empty on OpenShift, so that the pods get no user and no group. */}}
  {{- if or $pool.podSecurityContext .Values.openshift.enabled }}
  podSecurityContext:
    {{- toYaml (default (dict) $pool.podSecurityContext) | nindent 4 }}
  {{- end }}
  {{- with $pool.securityContext }}
  securityContext:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with concat (fromYamlArray (include "pressroom.ca.volume" .)) (fromYamlArray (include "pressroom.secrets.volume" $secrets)) (default (list) $pool.extraVolumes) }}
  volumes:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with concat (fromYamlArray (include "pressroom.ca.mount" .)) (fromYamlArray (include "pressroom.secrets.mount" $secrets)) (default (list) $pool.extraVolumeMounts) }}
  volumeMounts:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $pool.scratchSizeLimit }}
  scratchSizeLimit: {{ . }}
  {{- end }}
  terminationGracePeriodSeconds: {{ int $pool.terminationGracePeriodSeconds }}
  chromeSandbox:
    mode: {{ $pool.chromeSandbox.mode | quote }}
    {{- if eq $pool.chromeSandbox.mode "LocalhostProfile" }}
    localhostProfile: {{ $pool.chromeSandbox.localhostProfile | quote }}
    {{- end }}
{{- end }}

{{/* The fixed number of workers without an autoscaler. */}}
{{- define "pressroom.pool.size" -}}
{{- $pool := .Values.pool -}}
{{- ternary (default 1 (default (dict) $pool.scaling).minReplicas) $pool.replicas (kindIs "invalid" $pool.replicas) | int -}}
{{- end }}

{{/* Busy slots and queued renders of the pool in PromQL: the metrics that the controller reads. By pod, because two scrape jobs may find one process. All API processes report the same asynchronous backlog. */}}
{{- define "pressroom.pool.load" -}}
sum(max by (__name__, pod) ({__name__=~"pressroom_queue_depth|pressroom_slots",state=~"claimed|",namespace="{{ .Release.Namespace }}",pool="{{ include "pressroom.pool" . }}"})) + (max(pressroom_async_backlog{namespace="{{ .Release.Namespace }}",pool="{{ include "pressroom.pool" . }}"}) or vector(0))
{{- end }}
