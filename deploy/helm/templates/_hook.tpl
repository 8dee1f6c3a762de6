{{/* Annotations of a hook: (list WHEN WEIGHT). helm deletes a hook that succeeded. One that failed
remains until the next run, so that its log can be read. */}}
{{- define "urltree.hook" -}}
helm.sh/hook: {{ index . 0 }}
helm.sh/hook-weight: {{ index . 1 | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}
