{{/* The Secrets, and the variables that are read from them. */}}

{{- define "pressroom.pepper.secret" -}}{{ default (include "pressroom.secrets.name" .) .Values.secrets.pepper.existingSecret }}{{- end }}
{{- define "pressroom.previousPepper.secret" -}}{{ default (include "pressroom.pepper.secret" .) .Values.secrets.previousPepper.existingSecret }}{{- end }}
{{- define "pressroom.poolSecret.secret" -}}{{ default (include "pressroom.secrets.name" .) .Values.secrets.poolSecret.existingSecret }}{{- end }}

{{- define "pressroom.dashboardSecret.secret" -}}{{ default (include "pressroom.secrets.name" .) .Values.secrets.dashboard.existingSecret }}{{- end }}

{{/* The keys to generate in a new Secret, separated by commas: those without an existing Secret. */}}
{{- define "pressroom.secrets.made" -}}
{{- $keys := list -}}
{{- range list .Values.secrets.pepper .Values.secrets.poolSecret -}}
{{- if not .existingSecret }}{{ $keys = append $keys .key }}{{ end -}}
{{- end -}}
{{- join "," $keys -}}
{{- end }}

{{/* The keys to add to a Secret that an earlier release created. */}}
{{- define "pressroom.secrets.added" -}}
{{- with .Values.secrets.dashboard }}{{ if not .existingSecret }}{{ .key }}{{ end }}{{ end -}}
{{- end }}

{{/* The variables of a process that reads and writes accounts: the API and the pod of `helm test`. */}}
{{- define "pressroom.accounts.variables" -}}
{{ include "pressroom.mongodb.variables" . }}
{{ include "pressroom.secretVariable" (list "PRESSROOM_PEPPER" (include "pressroom.pepper.secret" .) .Values.secrets.pepper.key) }}
{{- if not .Values.secrets.mountAsFiles }}
- name: PRESSROOM_PEPPER_PREVIOUS
  valueFrom:
    secretKeyRef:
      name: {{ include "pressroom.previousPepper.secret" . | quote }}
      key: {{ .Values.secrets.previousPepper.key | quote }}
      optional: true
{{- else if .Values.secrets.previousPepper.existingSecret }}
{{- /* A process does not start when the file of a variable is missing, so the key is not optional. */}}
{{ include "pressroom.secretVariable" (list "PRESSROOM_PEPPER_PREVIOUS" .Values.secrets.previousPepper.existingSecret .Values.secrets.previousPepper.key) }}
{{- end }}
{{- end }}

{{/* The variables of the API that are set only if an existing Secret is configured. */}}
{{- define "pressroom.secrets.optionalVariables" -}}
{{- $secrets := .Values.secrets -}}
{{- $variables := dict "PRESSROOM_ADMIN_PASSWORD" $secrets.adminPassword "PRESSROOM_OIDC_CLIENT_SECRET" $secrets.oidcClientSecret "PRESSROOM_STRIPE_SECRET_KEY" $secrets.stripeSecretKey "PRESSROOM_STRIPE_WEBHOOK_SECRET" $secrets.stripeWebhookSecret -}}
{{- range $name, $entry := $variables }}
{{- if $entry.existingSecret }}
{{ include "pressroom.secretVariable" (list $name $entry.existingSecret $entry.key) }}
{{- end }}
{{- end }}
{{- end }}

{{/* MONGODB_URI. Exactly one of the three options must be set. */}}
{{- define "pressroom.mongodb.variables" -}}
{{- $options := 0 -}}
{{- range list .Values.mongodb.uri .Values.mongodb.existingSecret .Values.mongodb.bundled.enabled }}{{ if . }}{{ $options = add1 $options }}{{ end }}{{ end -}}
{{- if eq (int $options) 0 -}}
{{- fail "mongodb: no MongoDB is configured. Set mongodb.existingSecret (a Secret with the connection string under the key `mongodb-uri`), mongodb.uri, or, for evaluation, mongodb.bundled.enabled=true" -}}
{{- else if gt (int $options) 1 -}}
{{- fail "mongodb: only one of mongodb.existingSecret, mongodb.uri and mongodb.bundled.enabled can be set" -}}
{{- end -}}
{{- if and .Values.mongodb.bundled.enabled .Values.secrets.mountAsFiles -}}
{{- fail "secrets.mountAsFiles: the bundled MongoDB has its password in a variable. Use mongodb.existingSecret or mongodb.uri, or set secrets.mountAsFiles=false" -}}
{{- else if .Values.mongodb.bundled.enabled -}}
{{- $name := include "pressroom.mongodb.name" . -}}
{{ include "pressroom.secretVariable" (list "MONGODB_PASSWORD" $name "password") }}
- name: MONGODB_URI
  value: mongodb://pressroom:$(MONGODB_PASSWORD)@{{ $name }}-0.{{ $name }}:27017/pressroom?authSource=admin&replicaSet=pressroom
{{- else if .Values.mongodb.uri -}}
{{ include "pressroom.secretVariable" (list "MONGODB_URI" (include "pressroom.mongodb.name" .) "mongodb-uri") }}
{{- else -}}
{{ include "pressroom.secretVariable" (list "MONGODB_URI" .Values.mongodb.existingSecret .Values.mongodb.key) }}
{{- end -}}
{{- end }}

{{- define "pressroom.secrets.folder" -}}/etc/pressroom/secrets{{- end }}

{{/*
The variables of a container. With `secrets.mountAsFiles`, each variable NAME of a Secret becomes NAME_FILE with the path of its file. Takes
(list $ variables), the variables as YAML.
*/}}
{{- define "pressroom.variables" -}}
{{- $ := index . 0 -}}
{{- if $.Values.secrets.mountAsFiles -}}
{{- $variables := list -}}
{{- range fromYamlArray (index . 1) -}}
{{- $file := dict "name" (printf "%s_FILE" .name) "value" (printf "%s/%s" (include "pressroom.secrets.folder" $) .name) -}}
{{- $variables = append $variables (ternary $file . (hasKey (default (dict) .valueFrom) "secretKeyRef")) -}}
{{- end -}}
{{- toYaml $variables -}}
{{- else -}}
{{- trim (index . 1) -}}
{{- end -}}
{{- end }}

{{/* The volume with the files of `pressroom.variables`, and its mount. Empty if there is none. Takes (list $ variables). */}}
{{- define "pressroom.secrets.volume" -}}
{{- if (index . 0).Values.secrets.mountAsFiles -}}
{{- $sources := list -}}
{{- range fromYamlArray (index . 1) -}}
{{- $from := (default (dict) .valueFrom).secretKeyRef -}}
{{- if $from -}}
{{- $sources = append $sources (dict "secret" (dict "name" $from.name "items" (list (dict "key" $from.key "path" .name)))) -}}
{{- end -}}
{{- end -}}
{{- if $sources -}}
- name: pressroom-secrets
  projected:
    sources:
      {{- toYaml $sources | nindent 6 }}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "pressroom.secrets.mount" -}}
{{- if include "pressroom.secrets.volume" . -}}
- name: pressroom-secrets
  mountPath: {{ include "pressroom.secrets.folder" (index . 0) }}
  readOnly: true
{{- end -}}
{{- end }}

{{/* The variables of the API that are read from Secrets. */}}
{{- define "pressroom.api.secretVariables" -}}
{{ include "pressroom.accounts.variables" . }}
{{ include "pressroom.secretVariable" (list "PRESSROOM_POOL_SECRET" (include "pressroom.poolSecret.secret" .) .Values.secrets.poolSecret.key) }}
{{ include "pressroom.secretVariable" (list "PRESSROOM_SECRET" (include "pressroom.dashboardSecret.secret" .) .Values.secrets.dashboard.key) }}
{{- include "pressroom.secrets.optionalVariables" . }}
{{- end }}

{{- define "pressroom.controller.secretVariables" -}}
{{- with .Values.prometheus.token }}{{ if .existingSecret }}{{ include "pressroom.secretVariable" (list "PRESSROOM_PROMETHEUS_TOKEN" .existingSecret .key) }}{{ end }}{{ end -}}
{{- end }}

{{/* The variables of workers in `spec.template`. The pool secret is not among them. */}}
{{- define "pressroom.worker.secretVariables" -}}
{{- with .Values.egress.proxy }}{{ if .existingSecret }}{{ include "pressroom.secretVariable" (list "PRESSROOM_EGRESS_PROXY" .existingSecret .key) }}{{ end }}{{ end -}}
{{- end }}

{{/* The variables of the pod of `helm test`. */}}
{{- define "pressroom.test.secretVariables" -}}
{{- if .Values.test.existingSecret -}}
{{ include "pressroom.secretVariable" (list "PRESSROOM_TEST_KEY" .Values.test.existingSecret .Values.test.key) }}
{{- else -}}
{{ include "pressroom.accounts.variables" . }}
{{- end -}}
{{- end }}
