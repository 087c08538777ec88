{{/*
The text of a file of rules with the values of this release in place of the words in capitals. It holds templates of Prometheus' own and is never read as
a template of Helm. Takes (list $ path).
*/}}
{{- define "pressroom.rules.text" -}}
{{- $ := index . 0 -}}
{{- $alerts := $.Values.alerts -}}
{{- $words := dict
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
{{- range $word, $value := $words -}}
{{- $text = $text | replace $word (printf "%v" $value) -}}
{{- end -}}
{{- $text -}}
{{- end }}
