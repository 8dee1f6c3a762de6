{{/* The login of KEDA to Kafka: KEDA reads the Secrets of the workers. The chart only names them. */}}

{{- define "urltree.keda.authenticates" -}}
{{- if ne .Values.kafka.security "PLAINTEXT" }}true{{ end -}}
{{- end -}}

{{/* The login parameters that are not secret, for the trigger. */}}
{{- define "urltree.keda.metadata" -}}
{{- $mechanisms := dict "PLAIN" "plaintext" "SCRAM-SHA-256" "scram_sha256" "SCRAM-SHA-512" "scram_sha512" "OAUTHBEARER" "oauthbearer" -}}
tls: {{ ternary "enable" "disable" (eq "true" (include "urltree.kafka.encrypted" .)) }}
sasl: {{ if include "urltree.kafka.logsIn" . }}{{ get $mechanisms .Values.kafka.sasl.mechanism }}{{ else }}none{{ end }}
{{- end -}}

{{/* The login parameters from Secrets. Each line is "parameter secret key". */}}
{{- define "urltree.keda.secrets" -}}
{{- $kafka := .Values.kafka -}}
{{- if include "urltree.kafka.encrypted" . }}
{{- with $kafka.tls.ca }}{{ if .secret }}
ca {{ .secret }} {{ .key }}
{{- end }}{{ end }}
{{- with $kafka.tls.certificate }}{{ if .secret }}
cert {{ .secret }} {{ .certKey }}
key {{ .secret }} {{ .keyKey }}
{{- end }}{{ end }}
{{- end }}
{{- if include "urltree.kafka.oauth" . }}
password {{ $kafka.sasl.oauth.clientSecret.secret }} {{ $kafka.sasl.oauth.clientSecret.key }}
{{- else if include "urltree.kafka.logsIn" . }}
password {{ $kafka.sasl.password.secret }} {{ $kafka.sasl.password.key }}
{{- end }}
{{- end -}}
