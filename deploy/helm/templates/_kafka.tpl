{{/* The connection of a pod to Kafka. Secrets are files, never environment variables: a variable is
visible in `kubectl describe`, in crash reports and in every child process. */}}

{{/* The name of the KafkaUser of a component. All commands share one user. */}}
{{- define "urltree.kafka.user" -}}
{{- $own := has .component (list "poll" "fetch" "normalize" "extract" "autoscaling") -}}
{{- printf "%s-%s" (include "urltree.fullname" .root) (ternary .component "operator" $own) -}}
{{- end -}}

{{/* The values under which a component reaches Kafka, as JSON: {"Values": {"kafka": …}}. With
KafkaUsers, the user and the Secret that Strimzi makes for it replace those of kafka.sasl. */}}
{{- define "urltree.kafka.login" -}}
{{- $kafka := deepCopy .root.Values.kafka -}}
{{- if eq .root.Values.users.manage "strimzi" -}}
{{- $user := include "urltree.kafka.user" . -}}
{{- $login := dict "username" $user "password" (dict "secret" $user "key" "password") -}}
{{- $_ := set $kafka "sasl" (mergeOverwrite $kafka.sasl $login) -}}
{{- end -}}
{{- dict "Values" (dict "kafka" $kafka) | toJson -}}
{{- end -}}

{{- define "urltree.kafka.logsIn" -}}
{{- if hasPrefix "SASL" .Values.kafka.security }}true{{ end -}}
{{- end -}}

{{- define "urltree.kafka.oauth" -}}
{{- if and (include "urltree.kafka.logsIn" .) (eq .Values.kafka.sasl.mechanism "OAUTHBEARER") }}true{{ end -}}
{{- end -}}

{{- define "urltree.kafka.encrypted" -}}
{{- if hasSuffix "SSL" .Values.kafka.security }}true{{ end -}}
{{- end -}}

{{- define "urltree.kafka.env" -}}
{{- $kafka := .Values.kafka -}}
- name: URLTREE_BROKERS
  value: {{ join "," $kafka.brokers | quote }}
{{- with $kafka.prefix }}
- name: URLTREE_PREFIX
  value: {{ . | quote }}
{{- end }}
- name: URLTREE_SECURITY
  value: {{ $kafka.security }}
{{- if include "urltree.kafka.encrypted" . }}
{{- if $kafka.tls.ca.secret }}
- name: URLTREE_SSL_CA_FILE
  value: /etc/urltree/secrets/ca.crt
{{- end }}
{{- if $kafka.tls.certificate.secret }}
- name: URLTREE_SSL_CERT_FILE
  value: /etc/urltree/secrets/tls.crt
- name: URLTREE_SSL_KEY_FILE
  value: /etc/urltree/secrets/tls.key
{{- end }}
{{- end }}
{{- if include "urltree.kafka.logsIn" . }}
- name: URLTREE_SASL_MECHANISM
  value: {{ $kafka.sasl.mechanism }}
{{- if include "urltree.kafka.oauth" . }}
{{- with $kafka.sasl.oauth }}
- name: URLTREE_OAUTH_TOKEN_URL
  value: {{ .tokenUrl | quote }}
- name: URLTREE_OAUTH_CLIENT_ID
  value: {{ .clientId | quote }}
- name: URLTREE_OAUTH_CLIENT_SECRET_FILE
  value: /etc/urltree/secrets/oauth-client-secret
{{- with .scope }}
- name: URLTREE_OAUTH_SCOPE
  value: {{ . | quote }}
{{- end }}
{{- if .ca.secret }}
- name: URLTREE_OAUTH_CA_FILE
  value: /etc/urltree/secrets/oauth-ca.crt
{{- end }}
{{- end }}
{{- else }}
- name: URLTREE_SASL_USERNAME
  value: {{ $kafka.sasl.username | quote }}
- name: URLTREE_SASL_PASSWORD_FILE
  value: /etc/urltree/secrets/sasl-password
{{- end }}
{{- end }}
{{- end -}}

{{/* Sources of the projected volume: only the keys that are needed, each under a fixed name. */}}
{{- define "urltree.kafka.secrets" -}}
{{- $kafka := .Values.kafka -}}
{{- if include "urltree.kafka.encrypted" . }}
{{- with $kafka.tls.ca }}{{ if .secret }}
- secret:
    name: {{ .secret }}
    items: [{key: {{ .key | quote }}, path: ca.crt}]
{{- end }}{{ end }}
{{- with $kafka.tls.certificate }}{{ if .secret }}
- secret:
    name: {{ .secret }}
    items:
      - {key: {{ .certKey | quote }}, path: tls.crt}
      - {key: {{ .keyKey | quote }}, path: tls.key}
{{- end }}{{ end }}
{{- end }}
{{- if include "urltree.kafka.oauth" . }}
- secret:
    name: {{ $kafka.sasl.oauth.clientSecret.secret }}
    items: [{key: {{ $kafka.sasl.oauth.clientSecret.key | quote }}, path: oauth-client-secret}]
{{- with $kafka.sasl.oauth.ca }}{{ if .secret }}
- secret:
    name: {{ .secret }}
    items: [{key: {{ .key | quote }}, path: oauth-ca.crt}]
{{- end }}{{ end }}
{{- else if include "urltree.kafka.logsIn" . }}
- secret:
    name: {{ $kafka.sasl.password.secret }}
    items: [{key: {{ $kafka.sasl.password.key | quote }}, path: sasl-password}]
{{- end }}
{{- end -}}
