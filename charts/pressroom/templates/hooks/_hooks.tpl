{{/*
Jobs that run before an install or upgrade, each with its own permissions that are deleted when it succeeds. They do not run before a rollback: the
CRD only gains fields, so older releases work with a newer CRD, and an older CRD would remove the new fields from existing pools.
*/}}

{{- define "pressroom.hook" -}}
{{- toYaml (dict "helm.sh/hook" "pre-install,pre-upgrade" "helm.sh/hook-weight" (toString .) "helm.sh/hook-delete-policy" "before-hook-creation,hook-succeeded") -}}
{{- end }}

{{/* A hook Job. Takes (list $ name containers). */}}
{{- define "pressroom.hook.job" -}}
{{- $ := index . 0 -}}
{{- $name := index . 1 -}}
apiVersion: batch/v1
kind: Job
metadata:
  {{- include "pressroom.metadata" (list $ "setup" $name (fromYaml (include "pressroom.hook" "-1"))) | nindent 2 }}
spec:
  backoffLimit: 3
  activeDeadlineSeconds: 240
  template:
    metadata:
      labels:
        {{- include "pressroom.podLabels" (list $ "setup" (mergeOverwrite (dict) (default (dict) $.Values.controller.podLabels) (default (dict) $.Values.hooks.podLabels))) | nindent 8 }}
      {{- with mergeOverwrite (dict) (default (dict) $.Values.controller.podAnnotations) (default (dict) $.Values.hooks.podAnnotations) }}
      annotations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      restartPolicy: Never
      serviceAccountName: {{ $name }}
      automountServiceAccountToken: true
      enableServiceLinks: false
      {{- include "pressroom.placement" (list $ "setup" (omit $.Values.controller "topologySpreadConstraints")) | nindent 6 }}
      securityContext:
        {{- include "pressroom.podSecurityContext" $ | nindent 8 }}
      volumes:
        - name: tmp
          emptyDir: {sizeLimit: 64Mi}
        {{- include "pressroom.ca.volume" $ | nindent 8 }}
      containers:
        {{- range index . 2 }}
        - name: {{ .name }}
          image: {{ include "pressroom.image" (list $ $.Values.image.controller) }}
          imagePullPolicy: {{ $.Values.image.pullPolicy }}
          command:
            {{- toYaml .command | nindent 12 }}
          env:
            - name: PRESSROOM_NAMESPACE
              value: {{ $.Release.Namespace | quote }}
            {{- include "pressroom.ca.variable" $ | nindent 12 }}
          resources:
            requests: {cpu: 50m, memory: 64Mi, ephemeral-storage: 64Mi}
            limits: {memory: 192Mi}
          securityContext:
            {{- include "pressroom.containerSecurityContext" $ | nindent 12 }}
          terminationMessagePolicy: FallbackToLogsOnError
          volumeMounts:
            - {name: tmp, mountPath: /tmp}
            {{- include "pressroom.ca.mount" $ | nindent 12 }}
        {{- end }}
{{- end }}
