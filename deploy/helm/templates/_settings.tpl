{{/* The job's settings as environment. Contexts: root, name (the stage), stage (its values). */}}

{{/* A value as the job reads it: lists with commas; large numbers in digits, for YAML's numbers are
floats to Helm and 33554432 would become 3.3554432e+07. */}}
{{- define "urltree.settings.value" -}}
{{- if kindIs "slice" . -}}
{{- join "," . -}}
{{- else if and (kindIs "float64" .) (eq (floor .) .) -}}
{{- int64 . -}}
{{- else -}}
{{- . -}}
{{- end -}}
{{- end -}}

{{/* As JSON: the settings of a stage, its own before those for all. */}}
{{- define "urltree.settings.merged" -}}
{{- toJson (mergeOverwrite (deepCopy .root.Values.settings) (deepCopy .stage.settings)) -}}
{{- end -}}

{{- define "urltree.settings.env" -}}
{{- range $name, $value := . }}
- name: URLTREE_{{ upper $name }}
  value: {{ include "urltree.settings.value" $value | quote }}
{{- end }}
{{- end -}}

{{/* What SIGTERM may take: the job's own bound, and 15 s for the interpreter, the web server and
a node under load. The kubelet kills after it, and what was in work is replayed. */}}
{{- define "urltree.settings.grace" -}}
{{- $merged := include "urltree.settings.merged" . | fromJson -}}
{{- add (ceil (default 25 $merged.shutdown_seconds) | int64) 15 -}}
{{- end -}}
