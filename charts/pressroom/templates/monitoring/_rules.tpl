{{/*
The text of a rules file with its placeholders (in capitals) replaced by the values of this release. The file contains Prometheus templates, so it is not
rendered as a Helm template. Takes (list $ path).
*/}}
{{- define "pressroom.rules.text" -}}
{{- $ := index . 0 -}}
{{- $alerts := $.Values.alerts -}}
{{- $placeholders := dict
  "RELEASE_NAMESPACE" $.Release.Namespace
  "RELEASE_POOL" (include "pressroom.pool" $)
  "OBJECTIVE_AVAILABILITY" $alerts.availabilityObjective
  "OBJECTIVE_QUEUE_RATIO" $alerts.queueWaitObjective
  "OBJECTIVE_QUEUE_SECONDS" $alerts.queueWaitSeconds
  "OBJECTIVE_LATENCY_RATIO" $alerts.renderTimeObjective
  "OBJECTIVE_LATENCY_SECONDS" $alerts.renderTimeSeconds
  "RUNBOOK_URL" (default (printf "%s/docs/runbook" (include "pressroom.api.publicUrl" $)) $alerts.runbookUrl)
-}}
{{- $text := $.Files.Get (index . 1) -}}
{{- range $placeholder, $value := $placeholders -}}
{{- $text = $text | replace $placeholder (printf "%v" $value) -}}
{{- end -}}
{{- $text -}}
{{- end }}
