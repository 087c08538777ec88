{{/* Which Secret holds what. */}}

{{- define "pressroom.pepper.secret" -}}{{ default (include "pressroom.secrets.name" .) .Values.secrets.pepper.existingSecret }}{{- end }}
{{- define "pressroom.previousPepper.secret" -}}{{ default (include "pressroom.pepper.secret" .) .Values.secrets.previousPepper.existingSecret }}{{- end }}
{{- define "pressroom.poolSecret.secret" -}}{{ default (include "pressroom.secrets.name" .) .Values.secrets.poolSecret.existingSecret }}{{- end }}

{{- define "pressroom.dashboardSecret.secret" -}}{{ default (include "pressroom.secrets.name" .) .Values.secrets.dashboard.existingSecret }}{{- end }}

{{/* The entries of the Secret that is made, separated by commas: what no Secret of the operator holds. */}}
{{- define "pressroom.secrets.made" -}}
{{- $keys := list -}}
{{- range list .Values.secrets.pepper .Values.secrets.poolSecret -}}
{{- if not .existingSecret }}{{ $keys = append $keys .key }}{{ end -}}
{{- end -}}
{{- join "," $keys -}}
{{- end }}

{{/* Those that a Secret of an earlier release lacks, to which they are added. */}}
{{- define "pressroom.secrets.added" -}}
{{- with .Values.secrets.dashboard }}{{ if not .existingSecret }}{{ .key }}{{ end }}{{ end -}}
{{- end }}

{{/* The variables of the API that are there when a Secret of the operator holds them. */}}
{{- define "pressroom.secrets.optionalVariables" -}}
{{- $secrets := .Values.secrets -}}
{{- $variables := dict "PRESSROOM_ADMIN_PASSWORD" $secrets.adminPassword "PRESSROOM_OIDC_CLIENT_SECRET" $secrets.oidcClientSecret "PRESSROOM_STRIPE_SECRET_KEY" $secrets.stripeSecretKey "PRESSROOM_STRIPE_WEBHOOK_SECRET" $secrets.stripeWebhookSecret -}}
{{- range $name, $entry := $variables }}
{{- if $entry.existingSecret }}
{{ include "pressroom.secretVariable" (list $name $entry.existingSecret $entry.key) }}
{{- end }}
{{- end }}
{{- end }}

{{/* MONGODB_URI. Exactly one way leads to MongoDB. */}}
{{- define "pressroom.mongodb.variables" -}}
{{- $ways := 0 -}}
{{- range list .Values.mongodb.uri .Values.mongodb.existingSecret .Values.mongodb.bundled.enabled }}{{ if . }}{{ $ways = add1 $ways }}{{ end }}{{ end -}}
{{- if eq (int $ways) 0 -}}
{{- fail "mongodb: say where MongoDB is: set mongodb.existingSecret (a Secret with the address under `mongodb-uri`), or mongodb.uri, or for a trial mongodb.bundled.enabled=true" -}}
{{- else if gt (int $ways) 1 -}}
{{- fail "mongodb: only one of mongodb.existingSecret, mongodb.uri and mongodb.bundled.enabled can be set" -}}
{{- end -}}
{{- if .Values.mongodb.bundled.enabled -}}
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
