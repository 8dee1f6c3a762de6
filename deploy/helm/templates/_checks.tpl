{{/* Checks that the schema cannot express. One message lists all problems and how to fix each. */}}

{{- define "urltree.checks" -}}
{{- $problems := list -}}
{{- range list "kafka" "headers" "credentials" "image" "stages" "autoscaling" "topics" "users" "reset" "pods" "monitoring" -}}
{{- range include (printf "urltree.checks.%s" .) $ | splitList "\n" -}}
{{- if trim . }}{{ $problems = append $problems (trim .) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- if $problems -}}
{{- fail (printf "\n\n  - %s\n" (join "\n  - " $problems)) -}}
{{- end -}}
{{- end -}}

{{- define "urltree.checks.kafka" -}}
{{- with .Values.kafka }}
{{- $sasl := .sasl }}
{{- if not .brokers }}
kafka.brokers is empty: set it to at least one broker, for example kafka:9092
{{- end }}
{{- if hasPrefix "SASL" .security }}
{{- if eq $sasl.mechanism "OAUTHBEARER" }}
{{- if not (and $sasl.oauth.tokenUrl $sasl.oauth.clientId $sasl.oauth.clientSecret.secret) }}
kafka.sasl.mechanism is OAUTHBEARER: set kafka.sasl.oauth.tokenUrl, .clientId and .clientSecret.secret, the name of a Secret
{{- end }}
{{- else }}
{{- if and (not $sasl.username) (ne $.Values.users.manage "strimzi") }}
kafka.security is {{ .security }}: set kafka.sasl.username
{{- end }}
{{- if and (not $sasl.password.secret) (ne $.Values.users.manage "strimzi") }}
kafka.security is {{ .security }}: set kafka.sasl.password.secret to the name of the Secret that contains the password
{{- end }}
{{- end }}
{{- else if or $sasl.username $sasl.password.secret $sasl.oauth.tokenUrl }}
kafka.sasl is set, but kafka.security is {{ .security }} and no client would log in: set kafka.security to SASL_SSL
{{- end }}
{{- if and (not (hasSuffix "SSL" .security)) (or .tls.ca.secret .tls.certificate.secret) }}
kafka.tls is set, but kafka.security is {{ .security }} and no connection would be encrypted: set kafka.security to SSL or SASL_SSL
{{- end }}
{{- end }}
{{- end -}}

{{/* Workers of a release without a key send headers without a signature, and so do records that wait. */}}
{{- define "urltree.checks.headers" -}}
{{- with .Values.headerKey }}
{{- if and (not .enabled) (or .secret .formerKey) }}
headerKey.secret or headerKey.formerKey is set, but headerKey.enabled is false, and no header would be signed: set headerKey.enabled to true
{{- end }}
{{- if and .formerKey (not .secret) }}
headerKey.formerKey is set, but the chart's own Secret has only one key: set headerKey.secret to the name of your Secret with both keys
{{- end }}
{{- if and .enabled (not .secret) $.Release.IsUpgrade (not $.Values.settings.unsigned_until) }}
{{- $topics := lookup "v1" "ConfigMap" $.Release.Namespace (printf "%s-topics" (include "urltree.fullname" $)) }}
{{- if and $topics (not (lookup "v1" "Secret" $.Release.Namespace (include "urltree.headers.secret" $))) }}
this upgrade gives the job its first key for headers, and the running workers send headers without a signature: set settings.unsigned_until to a time after the upgrade, for example {{ now | mustDateModify "+1h" | date "2006-01-02T15:04:05Z07:00" }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "urltree.checks.credentials" -}}
{{- $hasSecret := .Values.credentials.secretName -}}
{{- range $name, $stage := include "urltree.stages" . | fromJson }}
{{- $settings := include "urltree.settings.merged" (dict "root" $ "name" $name "stage" $stage) | fromJson }}
{{- if and $hasSecret $settings.credentials_dir }}
credentials.secretName and settings.credentials_dir of {{ $name }} are both set: remove settings.credentials_dir, the chart mounts the Secret and sets it
{{- end }}
{{- if and $settings.proxy_credentials (not $hasSecret) (not $settings.credentials_dir) }}
settings.proxy_credentials of {{ $name }} names a key of a Secret: set credentials.secretName to the name of this Secret
{{- end }}
{{- end }}
{{- end -}}

{{- define "urltree.checks.image" -}}
{{- if and .Values.image.tag .Values.image.digest }}
image.tag and image.digest are both set: leave image.tag empty, the digest already selects the image
{{- end }}
{{- end -}}

{{- define "urltree.checks.stages" -}}
{{- $partitions := include "urltree.topics.partitions" . | int }}
{{- $stages := include "urltree.stages" . | fromJson }}
{{- if not $stages }}
no stage is enabled: set stages.normalize.enabled and stages.extract.enabled to true
{{- end }}
{{- range $name, $stage := $stages }}
{{- $context := dict "root" $ "name" $name "stage" $stage }}
{{- $settings := include "urltree.settings.merged" $context | fromJson }}
{{- if gt (int $stage.replicas) $partitions }}
stages.{{ $name }}.replicas is {{ int $stage.replicas }}, but topics have {{ $partitions }} partitions, and a worker without a partition has no work: set it to at most {{ $partitions }}
{{- end }}
{{- if and (has $name (list "poll" "fetch")) (not $settings.contact) }}
stages.{{ $name }} sends requests to other people's sites: set settings.contact to an e-mail address or URL where their owners can reach you
{{- end }}
{{ include "urltree.memory.problem" $context }}
{{- end }}
{{- end -}}

{{- define "urltree.checks.autoscaling" -}}
{{- $partitions := include "urltree.topics.partitions" . | int }}
{{- range $name, $stage := include "urltree.stages" . | fromJson }}
{{- $scaling := default dict $stage.autoscaling }}
{{- if and (eq $name "poll") $scaling }}
stages.poll.autoscaling is set, but no metric shows when poll needs more workers: remove it, and set stages.poll.replicas
{{- end }}
{{- if hasKey $scaling (ternary "lag" "overdueHosts" (eq $name "fetch")) }}
stages.{{ $name }}.autoscaling has no value {{ ternary "lag" "overdueHosts" (eq $name "fetch") }}: remove it, and set {{ ternary "overdueHosts" "lag" (eq $name "fetch") }}
{{- end }}
{{- if and $scaling.enabled (ne $name "poll") }}
{{- if gt (int $scaling.maxReplicas) $partitions }}
stages.{{ $name }}.autoscaling.maxReplicas is {{ int $scaling.maxReplicas }}, but topics have {{ $partitions }} partitions: set it to at most {{ $partitions }}
{{- end }}
{{- if gt (int $scaling.minReplicas) (int $scaling.maxReplicas) }}
stages.{{ $name }}.autoscaling.minReplicas is {{ int $scaling.minReplicas }}, which is above maxReplicas: lower it to {{ int $scaling.maxReplicas }} or less
{{- end }}
{{- if and (eq $name "fetch") (not $.Values.monitoring.prometheusUrl) }}
stages.fetch.autoscaling reads the number of overdue hosts from Prometheus: set monitoring.prometheusUrl
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "urltree.checks.topics" -}}
{{- if lt (include "urltree.topics.partitions" . | int) 1 }}
topics.file declares no partitions: copy the chart's topics.yaml and change the copy
{{- end }}
{{ include "urltree.checks.repartition" . }}
{{- if and (eq .Values.topics.manage "strimzi") (not .Values.topics.strimzi.cluster) }}
topics.manage is strimzi: set topics.strimzi.cluster to the name of your Kafka resource
{{- end }}
{{- end -}}

{{/* Another number of partitions would send domains to workers that do not have their rows, and Strimzi
would add partitions at once. The former number is found only in the cluster, where `helm template`
cannot look it up. Workers check the number at start. */}}
{{- define "urltree.checks.repartition" -}}
{{- $now := include "urltree.topics.partitions" . | int }}
{{- with lookup "v1" "ConfigMap" .Release.Namespace (printf "%s-topics" (include "urltree.fullname" .)) }}
{{- $file := dig "data" "topics.yaml" "" . }}
{{- $before := include "urltree.topics.partitionsOf" $file | int }}
{{- if and $before (ne $before $now) }}
topics have {{ $before }} partitions, and topics.file declares {{ $now }}: the number cannot change. Set it back to {{ $before }}, or move to a new release (docs/operations.md, "Repartition")
{{- end }}
{{- end }}
{{- end -}}

{{- define "urltree.checks.users" -}}
{{- with .Values.users }}
{{- if eq .manage "strimzi" }}
{{- if not .strimzi.cluster }}
users.manage is strimzi: set users.strimzi.cluster to the name of your Kafka resource
{{- end }}
{{- if not (and (hasPrefix "SASL" $.Values.kafka.security) (eq $.Values.kafka.sasl.mechanism "SCRAM-SHA-512")) }}
users.manage is strimzi, and its users log in by SCRAM-SHA-512: set kafka.security to SASL_SSL, and kafka.sasl.mechanism to SCRAM-SHA-512
{{- end }}
{{- if eq $.Values.topics.manage "job" }}
users.manage is strimzi, but the Job that creates topics runs before its user exists: set topics.manage to strimzi or none
{{- end }}
{{- else if or .producers .consumers }}
users.producers and users.consumers make KafkaUsers: set users.manage to strimzi
{{- end }}
{{- end }}
{{- end -}}

{{- define "urltree.checks.reset" -}}
{{- with .Values.reset.stage }}
{{- $sentence := printf "%s of %s" . $.Release.Name }}
{{- if ne $.Values.reset.confirm $sentence }}
reset.stage is {{ . }}, which deletes all state of this stage. If you want that, set reset.confirm to "{{ $sentence }}"
{{- end }}
{{- if not $.Release.IsUpgrade }}
reset.stage is {{ . }}, but this is an install, and there is no state to delete: remove reset.stage
{{- end }}
{{- if not (get $.Values.stages .).enabled }}
reset.stage is {{ . }}, but stages.{{ . }} is not enabled: enable the stage, or remove reset.stage
{{- end }}
{{- else }}
{{- if .Values.reset.confirm }}
reset.confirm is set, but reset.stage is empty: set reset.stage, or remove both
{{- end }}
{{- end }}
{{- end -}}

{{- define "urltree.checks.pods" -}}
{{- range $name, $stage := merge (dict "pods" .Values.pods) (include "urltree.stages" . | fromJson) }}
{{- range default list $stage.extraEnv }}
{{- if hasPrefix "URLTREE_" .name }}
extraEnv contains {{ .name }}: set it in settings or stages.….settings instead
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "urltree.checks.monitoring" -}}
{{- if and .Values.monitoring.podMonitor.enabled .Values.monitoring.serviceMonitor.enabled }}
monitoring.podMonitor and monitoring.serviceMonitor are both enabled, and every worker would be scraped twice: choose one
{{- end }}
{{- end -}}
