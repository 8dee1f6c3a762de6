{{/* The key that signs the headers of the job's own records. It is a file, as all secrets are. The Job
for topics gets no key: it sends no records, and it runs before the chart's own Secret exists. */}}

{{- define "urltree.headers.secret" -}}
{{- default (printf "%s-header-key" (include "urltree.fullname" .)) .Values.headerKey.secret -}}
{{- end -}}

{{- define "urltree.headers.env" -}}
{{- if .Values.headerKey.enabled }}
- name: URLTREE_HEADER_KEY_FILE
  value: /etc/urltree/secrets/header-key
{{- if .Values.headerKey.formerKey }}
- name: URLTREE_FORMER_HEADER_KEY_FILE
  value: /etc/urltree/secrets/former-header-key
{{- end }}
{{- end }}
{{- end -}}

{{- define "urltree.headers.secrets" -}}
{{- if .Values.headerKey.enabled }}
- secret:
    name: {{ include "urltree.headers.secret" . }}
    items:
      - {key: {{ .Values.headerKey.key | quote }}, path: header-key}
      {{- with .Values.headerKey.formerKey }}
      - {key: {{ . | quote }}, path: former-header-key}
      {{- end }}
{{- end }}
{{- end -}}
