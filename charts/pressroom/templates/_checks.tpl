{{/* Checks the values by files/value-rules.json, which is generated from the declarations of the values in tools/chart/. */}}

{{/* The values at a path, as JSON: each by its own path, as text. `*` stands for each entry. Values that are not set are left out. Takes (list values path). */}}
{{- define "pressroom.valuesAt" -}}
{{- $found := dict "" (index . 0) -}}
{{- range $name := splitList "." (index . 1) -}}
{{- $below := dict -}}
{{- range $path, $value := $found -}}
{{- if and (eq $name "*") (kindIs "map" $value) -}}
{{- range $key, $each := $value }}{{ $_ := set $below (printf "%s.%s" $path $key) $each }}{{ end -}}
{{- else if and (eq $name "*") (kindIs "slice" $value) -}}
{{- range $at, $each := $value }}{{ $_ := set $below (printf "%s[%d]" $path $at) $each }}{{ end -}}
{{- else if kindIs "map" $value -}}
{{- $_ := set $below (trimPrefix "." (printf "%s.%s" $path $name)) (index $value $name) -}}
{{- end -}}
{{- end -}}
{{- $found = $below -}}
{{- end -}}
{{- $texts := dict -}}
{{- range $path, $value := $found -}}
{{- if not (or (kindIs "invalid" $value) (and (kindIs "string" $value) (empty $value) (not (hasSuffix "]" $path)))) -}}
{{- /* Large numbers must not be printed as 1e+06. */ -}}
{{- $whole := and (kindIs "float64" $value) (eq (toString (floor $value)) (toString $value)) -}}
{{- $_ := set $texts $path (ternary (printf "%.0f" (float64 (ternary $value 0 $whole))) (toString $value) $whole) -}}
{{- end -}}
{{- end -}}
{{- toJson $texts -}}
{{- end }}

{{/* The amount in a text such as `1m30s`, in the smallest unit. Takes (list format text). */}}
{{- define "pressroom.amountOf" -}}
{{- $format := index . 0 -}}
{{- $sum := 0.0 -}}
{{- range regexFindAll $format.part (index . 1) -1 -}}
{{- $number := regexFind "^[0-9.]+" . -}}
{{- $sum = addf $sum (mulf (float64 $number) (index $format.units (trim (trimPrefix $number .)))) -}}
{{- end -}}
{{- ternary (mulf -1.0 $sum) $sum (hasPrefix "-" (index . 1)) | toString -}}
{{- end }}

{{/* Not empty if a text has the format and is within the bounds of a check. Takes (list check format text). */}}
{{- define "pressroom.fits" -}}
{{- $check := index . 0 -}}
{{- $format := index . 1 -}}
{{- if regexMatch $format.pattern (index . 2) -}}
{{- $amount := 0.0 -}}
{{- if $format.units }}{{ $amount = float64 (include "pressroom.amountOf" (list $format (index . 2))) }}{{ end -}}
{{- $small := and (hasKey $check "min") (lt $amount (float64 $check.min)) -}}
{{- $large := and (hasKey $check "max") (gt $amount (float64 $check.max)) -}}
{{- if not (or $small $large) }}yes{{ end -}}
{{- end -}}
{{- end }}

{{/* Fails with one sentence for each invalid value. */}}
{{- define "pressroom.checks" -}}
{{- $values := .Values -}}
{{- $rules := fromJson (.Files.Get "files/value-rules.json") -}}
{{- $problems := list -}}
{{- range $check := $rules.checks -}}
{{- $format := index $rules.formats $check.format -}}
{{- range $path, $text := fromJson (include "pressroom.valuesAt" (list $values $check.path)) -}}
{{- if not (include "pressroom.fits" (list $check $format $text)) -}}
{{- $shown := ternary "" (printf ", not `%s`" $text) (default false $format.secret) -}}
{{- $problems = append $problems (printf "%s must be %s%s." $path (default $format.wanted $check.wanted) $shown) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $relation := $rules.relations -}}
{{- $defaults := default (dict) $relation.defaults -}}
{{- $two := list -}}
{{- range $name := list $relation.smaller $relation.larger -}}
{{- $path := printf "%s.%s" $relation.path $name -}}
{{- $set := fromJson (include "pressroom.valuesAt" (list $values $path)) -}}
{{- $two = append $two (dict "path" $path "value" (float64 (default (get $defaults $name) (get $set $path)))) -}}
{{- end -}}
{{- $smaller := first $two -}}
{{- $larger := last $two -}}
{{- if gt $smaller.value $larger.value -}}
{{- $problems = append $problems (printf "%s (%v) must be at most %s (%v)." $smaller.path $smaller.value $larger.path $larger.value) -}}
{{- end -}}
{{- end -}}
{{- with $problems }}{{ fail (join "\n" .) }}{{ end -}}
{{- end }}
